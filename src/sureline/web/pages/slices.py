"""The slices: what each may do, on what proof, and what the figures suggest (R8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sureline.application.calibration_report import SliceReport
from sureline.application.ports.keys import Role
from sureline.application.route_rates import route_rates
from sureline.core.gate.thresholds import VOID_REASONS
from sureline.core.learning.offers import Offer
from sureline.core.learning.suggestions import Suggestion
from sureline.core.values.decision import Route
from sureline.core.values.policy import Mode
from sureline.errors import Conflict, Forbidden, NotFound, PolicyError, Refused, SurelineError
from sureline.web.access import check_slice
from sureline.web.api.slices import slices_seen
from sureline.web.api.suggestions import accepted
from sureline.web.api.switches import switches_seen
from sureline.web.pages.apart import apart
from sureline.web.pages.dashboard import lately, overridden, queue_health, reported
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.templates import step
from sureline.web.reply import Reply

ADMINS = frozenset({Role.ADMIN})
LATEST = 25
"""Latest decisions that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """An offer with the suggestion that it is about, None for one about a lever.

    `restricts` says that proposing it gives the slice to people at once.
    """

    offer: Offer
    suggestion: Suggestion | None
    restricts: bool


async def index(visit: Visit) -> Reply:
    """List the slices with their certificates, or what is missing for one."""
    services, key = visit.context.services, visit.signed_in.key
    try:
        slices = await slices_seen(services, key)
        report = await visit.context.report()
    except PolicyError as error:
        return visit.html("no_policy.html.j2", here="slices", error=error.message)
    return visit.html(
        "slices.html.j2",
        rows=[
            {"now": one, "report": of, "lacks": lacking(one, of)}
            for one in slices
            for of in (reported(report, one["slice_key"]),)
        ],
        report=report,
        now=services.clock.now(),
    )


async def show(visit: Visit) -> Reply:
    """Show one slice."""
    return await _shown(visit)


async def accept(visit: Visit) -> Reply:
    """Make a proposed policy of a suggestion, and show what it would change."""
    key, form, slice_key = visit.signed_in.key, visit.form, visit.params["key"]
    if key.slices:
        raise Forbidden("this key is bound to slices, and a policy touches all of them")
    try:
        made = await accepted(
            visit.context, key, slice_key, form.get("suggestion", ""), mark=form.get("mark", "")
        )
    except (Conflict, Refused) as error:
        return await _shown(visit, refused=error)
    return redirect(f"/policy?show={made.policy.hash}&from={step(slice_key)}")


async def _shown(visit: Visit, *, refused: SurelineError | None = None) -> Reply:
    services, slice_key = visit.context.services, visit.params["key"]
    check_slice(visit.signed_in.key, slice_key)
    try:
        slices = await slices_seen(services, visit.signed_in.key)
        report = await visit.context.report()
    except PolicyError as error:
        return visit.html("no_policy.html.j2", here="slices", error=error.message)
    found = next((one for one in slices if one["slice_key"] == slice_key), None)
    if found is None:
        raise NotFound(f"the policy has no slice {slice_key!r}")
    workspace, now = services.workspace, services.clock.now()
    days = [
        o
        for o in await apart(lambda: services.ledger.route_days(workspace))
        if o.slice_key == slice_key
    ]
    counts = [one for one in await services.desk.counts() if one.slice_key == slice_key]
    of = reported(report, slice_key)
    switches = await switches_seen(services, visit.signed_in.key)
    return visit.html(
        "slice.html.j2",
        status=200 if refused is None else refused.status,
        error=None if refused is None else refused.message,
        suggested=() if of is None else suggested(of),
        may_draft=visit.signed_in.key.role in ADMINS and not visit.signed_in.key.slices,
        now_at=now,
        one=found,
        lacks=lacking(found, of),
        report=report,
        of=of,
        overridden=None if of is None else overridden(of),
        lately=lately(days, now),
        routes=route_rates(days),
        route_names=list(Route),
        queue=queue_health(counts),
        latest=await services.store.provenance.latest(workspace, slice_key, limit=LATEST),
        switches=[o for o in switches if o.on and o.scope in {"global", f"slice:{slice_key}"}],
    )


def lacking(one: dict[str, Any], of: SliceReport | None) -> str | None:
    """Say in words why a slice has no certificate that holds, None if it has one.

    What the labels of now say goes before what those of the latest calibration said.
    """
    missing = one["missing"]
    if missing is None:
        return None
    if missing["reason"] in VOID_REASONS:
        return f"{missing['message']} The reason: {VOID_REASONS[missing['reason']]}."
    if of is None:
        return str(missing["message"])
    if of.certified:
        return f"No certificate is active. {of.sentence}"
    return of.sentence


def suggested(of: SliceReport) -> list[Suggested]:
    """Return what is suggested for a slice, each with what can be done about it."""
    known = {one.id: one for one in of.suggestions}
    return [
        Suggested(
            offer=one,
            suggestion=known.get(one.suggestion),
            restricts=one.change is not None and one.change.after == Mode.HUMAN_ONLY,
        )
        for one in of.offers
    ]


PAGES = (
    Page(method="GET", path="/slices", run=index),
    Page(method="GET", path="/slices/{key}", run=show),
    Page(method="POST", path="/slices/{key}", run=accept, roles=ADMINS),
)
