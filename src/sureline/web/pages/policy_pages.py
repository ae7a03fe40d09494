"""The policy: what holds, what was proposed, what that would change, and making it current."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from sureline.application.canary_standings import warnings_of
from sureline.application.policies import POLICY, newly_human
from sureline.application.policy_diff import (
    PolicyChange,
    newly_embedded,
    policy_diff,
    remeasured,
)
from sureline.application.ports.keys import ApiKey, Role
from sureline.bootstrap import Services, check_sources
from sureline.core.gate.acting import acting
from sureline.core.values.counted import counted
from sureline.core.values.notification import Notifications
from sureline.core.values.policy import Policy
from sureline.errors import Conflict, Forbidden, InvalidInput, MissingExtra, PolicyError
from sureline.web.access import may_see
from sureline.web.pages.dashboard import standings_seen
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.reply import Reply

ADMINS = frozenset({Role.ADMIN})
LONGEST_NOTE = 2_000
OF_ALL = frozenset({"version", "defaults", "action_classes"})
"""Keys of a policy that are everybody's to see, beside their slices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A stored policy beside the one that holds: what changes, and what one should know first.

    `changes` pairs the place of a key with what happens to it, in words.
    """

    hash: str
    text: str
    active: bool
    changes: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


async def show(visit: Visit) -> Reply:
    """Show the current policy, the proposed ones, and one of them in full if asked for."""
    return await _shown(visit, visit.query.get("show", ""))


async def activate(visit: Visit) -> Reply:
    """Make a policy current that an admin has looked at beside the one that held then."""
    wanted = visit.form.get("hash", "")
    try:
        await _activate(visit, wanted)
    except (Conflict, InvalidInput, MissingExtra, PolicyError) as error:
        status = error.status if error.status < 500 else 409
        return await _shown(visit, wanted, status=status, error=error.message)
    return redirect("/policy")


async def _activate(visit: Visit, wanted: str) -> None:
    services, key, form = visit.context.services, visit.signed_in.key, visit.form
    if key.slices:
        raise Forbidden("this key is bound to slices, and this touches all of them")
    policy = await services.policies.stored(wanted)
    check_sources(policy, services.plugins)
    if form.get("seen", "") != (await services.policies.active_hash() or ""):
        raise Conflict("another policy became current meanwhile; look at the changes again")
    note = form.get("note", "").strip()
    if len(note) > LONGEST_NOTE:
        raise InvalidInput(f"expected at most {LONGEST_NOTE} characters", field="note")
    await services.policies.activate(policy.hash, by=acting(key.name, field="key"), note=note)


async def _shown(
    visit: Visit, wanted: str, *, status: int = 200, error: str | None = None
) -> Reply:
    services, key = visit.context.services, visit.signed_in.key
    current, fault = await _current(services)
    chosen = None
    if wanted:
        chosen = await _proposal(services, key, current, wanted)
    history = await services.registry.activations(services.workspace, POLICY)
    return visit.html(
        "policy.html.j2",
        status=status,
        error=error,
        current=None if current is None else narrowed(current, key),
        current_text=None if current is None else text_of(narrowed(current, key)),
        fault=fault,
        active=await services.policies.active_hash() or "",
        chosen=chosen,
        proposed=await services.policies.proposed(),
        history=history[::-1],
        held={one.subject for one in history},
        may_activate=key.role in ADMINS and not key.slices,
        note=visit.form.get("note", ""),
        drafted_from=_slice_named(visit, current),
    )


def _slice_named(visit: Visit, current: Policy | None) -> str | None:
    """Return the slice whose suggestion led here, if the address names one that there is."""
    named = visit.query.get("from", "")
    is_known = current is not None and named in narrowed(current, visit.signed_in.key).slices
    return named if is_known else None


async def _current(services: Services) -> tuple[Policy | None, str | None]:
    try:
        return await services.policies.latest(), None
    except PolicyError as error:
        return None, error.message


async def _proposal(
    services: Services, key: ApiKey, current: Policy | None, wanted: str
) -> Proposal:
    after = narrowed(await services.policies.stored(wanted), key)
    if current is None:
        return Proposal(hash=wanted, text=text_of(after), active=False, changes=(), warnings=())
    before = narrowed(current, key)
    return Proposal(
        hash=wanted,
        text=text_of(after),
        active=before.hash == after.hash,
        changes=tuple(map(in_words, policy_diff(before, after))),
        warnings=tuple(await _warnings(services, key, before, after)),
    )


async def _warnings(services: Services, holder: ApiKey, before: Policy, after: Policy) -> list[str]:
    """Say what an activation would end, and what nothing here could measure."""
    if before.hash == after.hash:
        return []
    found = [
        f"slice {key}: people decide everything from then on" for key in newly_human(before, after)
    ]
    for key in remeasured(before, after):
        rows = await services.ledger.label_counts(
            services.workspace, key, before.measurement_hashes[key]
        )
        labels = counted(sum(row.count for row in rows), "label")
        found.append(
            f"slice {key}: scores are measured otherwise, so its certificate ends and {labels} "
            "of the present scores count no more"
        )
    found += newly_embedded(before, after)
    found += [
        f"slice {key}: is in the policy no more" for key in before.slices.keys() - after.slices
    ]
    try:
        check_sources(after, services.plugins)
    except (MissingExtra, PolicyError) as error:
        found.append(f"it cannot be activated here: {error.message}")
    return [*found, *warnings_of(await standings_seen(services, holder))]


def narrowed(policy: Policy, key: ApiKey) -> Policy:
    """Return what a key may see of a policy.

    If it is bound to slices: those, and what holds for all; not who works on others, nor where
    their notices go and their verdicts come from.
    """
    if not key.slices:
        return policy

    def seen(of: Any) -> dict[str, Any]:
        return {name: one for name, one in of.items() if may_see(key, name)}

    return replace(
        policy,
        slices=seen(policy.slices),
        raw={
            **{name: one for name, one in policy.raw.items() if name in OF_ALL},
            "slices": seen(policy.raw.get("slices", {})),
        },
        notifications=Notifications(),
        groups={},
        inbound=(),
        measurement_hashes=seen(policy.measurement_hashes),
        base_measurements=seen(policy.base_measurements),
    )


def text_of(policy: Policy) -> str:
    """Write a policy as YAML, with all defaults filled in."""
    import yaml

    return str(yaml.safe_dump(policy.raw, sort_keys=False, allow_unicode=True))


def in_words(change: PolicyChange) -> tuple[str, str]:
    """Say where something changes, and how."""
    before, after = _value(change.before), _value(change.after)
    if change.added:
        return change.key, f"is new: {after}"
    if change.removed:
        return change.key, f"is gone; it was {before}"
    return change.key, f"changes from {before} to {after}"


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, ensure_ascii=False)


PAGES = (
    Page(method="GET", path="/policy", run=show),
    Page(method="POST", path="/policy", run=activate, roles=ADMINS),
)
