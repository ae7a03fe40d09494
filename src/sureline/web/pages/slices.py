"""The slices: what each may do, on what proof, and what the figures suggest (R8)."""

from __future__ import annotations

from typing import Any

from sureline.application.calibration_report import SliceReport
from sureline.application.route_rates import route_rates
from sureline.core.gate.thresholds import VOID_REASONS
from sureline.core.values.decision import Route
from sureline.errors import NotFound, PolicyError
from sureline.web.access import check_slice
from sureline.web.api.slices import slices_seen
from sureline.web.api.switches import switches_seen
from sureline.web.pages.apart import apart
from sureline.web.pages.dashboard import lately, overridden, queue_health, reported
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply

LATEST = 25
"""Latest decisions that are listed."""


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


PAGES = (
    Page(method="GET", path="/slices", run=index),
    Page(method="GET", path="/slices/{key}", run=show),
)
