"""A calibration before it is activated: what each slice would do from then on (L2, R8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.application.calibrations import StoredCalibration, ThresholdChange
from sureline.application.holding import CALIBRATION, holding
from sureline.application.ports.keys import ApiKey, Role
from sureline.bootstrap import Services
from sureline.core.gate.acting import acting
from sureline.core.values.policy import Mode, Policy
from sureline.errors import Conflict, Forbidden, InvalidInput, SurelineError
from sureline.web.access import may_see
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.reply import Reply

ADMINS = frozenset({Role.ADMIN})
SHARES = (1.0, 0.5, 0.1)
"""For how many of the decisions it may hold at first."""
LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What activating a calibration would do in one slice; `certificate` is the new one's JSON.

    `follows` is a code: alone, looser, stricter, people, same, nothing.
    """

    slice_key: str
    mode: str
    before: float | None
    after: float | None
    follows: str
    certificate: Mapping[str, Any] | None


async def compute(visit: Visit) -> Reply:
    """Compute a calibration from the labels of now, as a proposal, and show it."""
    _check_unbound(visit.signed_in.key)
    made = await visit.context.off_loop(visit.context.services.recalibrator.recalibrate)
    return redirect(f"/calibrations/{made.id}")


async def show(visit: Visit) -> Reply:
    """Show what activating a calibration would change."""
    return await _shown(visit)


async def activate(visit: Visit) -> Reply:
    """Make a calibration hold that an admin has looked at beside the one that held then."""
    try:
        await _activate(visit)
    except (Conflict, InvalidInput) as error:
        return await _shown(visit, error=error)
    return redirect(f"/calibrations/{visit.params['id']}")


async def _activate(visit: Visit) -> None:
    services, key, form = visit.context.services, visit.signed_in.key, visit.form
    _check_unbound(key)
    found = await services.calibrations.find(visit.params["id"])
    if form.get("seen", "") != await _mark(services):
        raise Conflict("another calibration or policy became current meanwhile; look again")
    note = form.get("note", "").strip()
    if not note or len(note) > LONGEST_NOTE:
        raise InvalidInput(f"say why, in at most {LONGEST_NOTE} characters", field="note")
    share = next((one for one in SHARES if str(one) == form.get("share", "1.0")), None)
    if share is None:
        raise InvalidInput("expected one of the choices", field="share")
    await services.calibrations.activate(
        found.id, by=acting(key.name, field="key"), note=note, share=share
    )


def _check_unbound(key: ApiKey) -> None:
    if key.slices:
        raise Forbidden("this key is bound to slices, and this touches all of them")


async def _mark(services: Services) -> str:
    """Name what holds now: the policy, and the activations of calibrations so far."""
    past = await services.registry.activations(services.workspace, CALIBRATION)
    return f"{await services.policies.active_hash()}:{len(past)}"


async def _shown(visit: Visit, *, error: SurelineError | None = None) -> Reply:
    services, key = visit.context.services, visit.signed_in.key
    found = await services.calibrations.find(visit.params["id"])
    policy = await services.policies.latest()
    held = await holding(services.registry, services.workspace)
    changes = await services.calibrations.preview(found.id)
    effects = [_effect(found, policy, one) for one in changes if may_see(key, one.slice_key)]
    return visit.html(
        "calibration.html.j2",
        status=200 if error is None else error.status,
        error=None if error is None else error.message,
        found=found,
        effects=effects,
        holds=held.full == found.id and held.staged is None,
        old_policy=found.body.get("policy") != policy.hash,
        seen=await _mark(services),
        may_activate=key.role in ADMINS and not key.slices,
        shares=SHARES,
        note=visit.form.get("note", ""),
    )


def _effect(found: StoredCalibration, policy: Policy, one: ThresholdChange) -> Effect:
    known = policy.slices.get(one.slice_key)
    certificates = found.body.get("certificates", [])
    return Effect(
        slice_key=one.slice_key,
        mode="" if known is None else known.mode,
        before=one.before,
        after=one.after,
        follows=_follows(one, routes=known is not None and known.mode is Mode.ROUTE),
        certificate=next((c for c in certificates if c["slice_key"] == one.slice_key), None),
    )


def _follows(one: ThresholdChange, *, routes: bool) -> str:
    if one.before == one.after:
        return "same"
    if not routes:
        return "nothing"
    if one.after is None:
        return "people"
    if one.before is None:
        return "alone"
    return "looser" if one.after < one.before else "stricter"


PAGES = (
    Page(method="POST", path="/calibrations", run=compute, roles=ADMINS),
    Page(method="GET", path="/calibrations/{id}", run=show),
    Page(method="POST", path="/calibrations/{id}", run=activate, roles=ADMINS),
)
