"""The dashboard: how all slices are doing, each figure with a link to its slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.calibration_report import CalibrationReport, SliceReport
from sureline.application.canary_standings import Standing, warnings_of
from sureline.application.logbook import Rate, automation
from sureline.application.opinion_health import OpinionHealth
from sureline.application.ports.keys import ApiKey
from sureline.application.ports.ledger import RouteDay
from sureline.application.ports.reviews import QueueCount
from sureline.application.route_rates import of_proposals, route_rates
from sureline.bootstrap import Services
from sureline.core.learning.slice_facts import Share
from sureline.core.statistics.spike import Rate as Frequency
from sureline.core.values.decision import Route
from sureline.core.values.periods import day_number
from sureline.core.values.review import ReviewState
from sureline.errors import PolicyError
from sureline.web.access import may_see
from sureline.web.api.slices import slices_seen
from sureline.web.pages.apart import apart
from sureline.web.pages.page import Page, Visit
from sureline.web.pages.switches_on import switches_on
from sureline.web.reply import Reply

LATELY = 28
"""Days, today among them, whose automation counts as that of now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueHealth:
    """How long a slice's queue is, since when its oldest open item waits, and what was missed."""

    waiting: int = 0
    claimed: int = 0
    escalated: int = 0
    expired: int = 0
    oldest: datetime | None = None

    @property
    def open(self) -> int:
        """Return how many items somebody can still decide."""
        return self.waiting + self.claimed + self.escalated


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One slice on the dashboard; `report` is None while it is drawn up."""

    now: dict[str, Any]
    lately: Rate
    queue: QueueHealth
    report: SliceReport | None

    @property
    def overridden(self) -> Share:
        """Return how many of the drafts that people answered they changed or rejected."""
        return Share() if self.report is None else overridden(self.report)

    @property
    def audited(self) -> Share:
        """Return how many of the audited outputs were right."""
        watch = None if self.report is None else self.report.watch
        if watch is None:
            return Share()
        guard = watch.guard
        return Share(part=guard.labels - guard.errors, whole=guard.labels)


def overridden(one: SliceReport) -> Share:
    """Return how many of the drafts that people answered they changed or rejected."""
    return Share(part=one.approved.whole - one.approved.part, whole=one.approved.whole)


def share_of(rate: Frequency) -> Share:
    """Return a rate with its interval."""
    return Share(part=rate.part, whole=rate.whole)


def reported(report: CalibrationReport | None, slice_key: str) -> SliceReport | None:
    """Return what a report says of a slice, None if nothing (yet)."""
    slices = () if report is None else report.slices
    return next((one for one in slices if one.slice_key == slice_key), None)


def queue_health(counts: Sequence[QueueCount]) -> QueueHealth:
    """Sum up the counts of a queue."""

    def of(*states: ReviewState) -> int:
        return sum(one.count for one in counts if one.state in states)

    return QueueHealth(
        waiting=of(ReviewState.PENDING),
        claimed=of(ReviewState.CLAIMED),
        escalated=of(ReviewState.ESCALATED),
        expired=of(ReviewState.EXPIRED),
        oldest=min((one.oldest for one in counts if one.state.is_open), default=None),
    )


def lately(days: Sequence[RouteDay], now: datetime) -> Rate:
    """Return the automation of the last 28 days, today among them."""
    today = day_number(now)
    return automation([one for one in days if 0 <= today - one.day < LATELY])


async def standings_seen(services: Services, key: ApiKey) -> tuple[Standing, ...]:
    """Return how second models did that are bound to no slices but those that a key may see."""
    found = await services.canaries.standings()
    return tuple(one for one in found if all(may_see(key, name) for name in one.examinee.bound))


async def show(visit: Visit) -> Reply:
    """Show how everything is doing; nothing is changed by looking."""
    services, key = visit.context.services, visit.signed_in.key
    now = services.clock.now()
    try:
        report = await visit.context.report()
        slices = await slices_seen(services, key)
    except PolicyError as error:
        return visit.html("no_policy.html.j2", here="dashboard", error=error.message)
    days = [
        one
        for one in await apart(lambda: services.ledger.route_days(services.workspace))
        if may_see(key, one.slice_key)
    ]
    counts = [one for one in await services.desk.counts() if may_see(key, one.slice_key)]
    rows = [
        SliceRow(
            now=one,
            lately=lately([day for day in days if day.slice_key == one["slice_key"]], now),
            queue=queue_health([c for c in counts if c.slice_key == one["slice_key"]]),
            report=reported(report, one["slice_key"]),
        )
        for one in slices
    ]
    return visit.html(
        "dashboard.html.j2",
        report=report,
        rows=rows,
        routes=route_rates(of_proposals(days)),
        route_names=list(Route),
        lately=lately(of_proposals(days), now),
        queue=queue_health(counts),
        flow=(await services.queue_health.read()).seen(lambda name: may_see(key, name)),
        switches=await switches_on(visit),
        opinions=await _opinions(services, key),
        warnings=[*warnings_of(await standings_seen(services, key))],
        verified=await services.store.verifications.latest(),
        missions=await visit.context.mission_counts.seen(key),
        now=now,
    )


async def _opinions(services: Services, key: ApiKey) -> list[tuple[OpinionHealth, Share, Share]]:
    """Return how second opinions did in the slices that a key may see: failed, and against."""
    health = await services.opinion_health.read()
    return [
        (one, share_of(one.failures), share_of(one.disagreements))
        for one in health.opinions
        if may_see(key, one.slice_key)
    ]


PAGES = (Page(method="GET", path="/dashboard", run=show),)
