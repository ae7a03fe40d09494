"""How the queue is doing: what comes, what is decided, how long it waits, and what is too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sureline.application.ports.clock import Clock
from sureline.application.ports.queue_flow import FlowCount, QueueFlow
from sureline.application.ports.reviews import QueueCount, ReviewStore
from sureline.application.review.offers import Offers
from sureline.core.review.flow import quantile
from sureline.core.review.groups import group_of
from sureline.core.review.hours import deadline_at
from sureline.core.review.overload import Load, Overload, overload_of
from sureline.core.values.periods import day_number
from sureline.core.values.policy import Mode, Policy, SlicePolicy
from sureline.core.values.queue_flow import Flow
from sureline.core.values.review import ReviewKind, ReviewState
from sureline.errors import InvalidInput

SHOWN_DAYS = 7
"""A week has all its days: people work on some only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """The queue of a slice, or of all slices of a group, over a window of days.

    `oldest` is when the longest waiting item was opened. `waits` are counts of verdicts by class
    of waiting (core/values/queue_flow.py). `overload` None: people can keep up, or it is a group.
    `is_current` says that it is a slice of the current policy.
    """

    name: str
    group: str | None
    load: Load
    escalated: int
    oldest: datetime | None
    waits: Mapping[int, int]
    overload: Overload | None = None
    is_current: bool = False

    @property
    def p50(self) -> timedelta | None:
        """Return how soon after opening half of the verdicts came."""
        return _quantile(self.waits, 0.5)

    @property
    def p95(self) -> timedelta | None:
        """Return how soon after opening 95 % of the verdicts came."""
        return _quantile(self.waits, 0.95)

    @property
    def in_a_week(self) -> int:
        """Return how many would wait in a week, if all goes on like this."""
        return round(self.load.backlog_in(7.0))

    @property
    def warning(self) -> str | None:
        """Say what is too much and what would help, None where nothing is."""
        if self.overload is None:
            return None
        first, *others = (words for _, words in self.overload.levers)
        also = f"; or {'; or '.join(others)}" if others else ""
        days = f"{self.load.days:.0f} days" if self.load.days >= 1.5 else "a day"
        return (
            f"{self.name} is overloaded: in {days} {self.overload.because}, and {self.load.open} "
            f"wait. What would help: {first}{also}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReport:
    """The queue at one moment, slice by slice and group by group."""

    at: datetime
    slices: tuple[QueueRow, ...]
    groups: tuple[QueueRow, ...]

    def seen(self, may_see: Callable[[str], bool]) -> QueueReport:
        """Return the slices that somebody may see, and the groups if they may see all."""
        slices = tuple(one for one in self.slices if may_see(one.name))
        groups = self.groups if len(slices) == len(self.slices) else ()
        return replace(self, slices=slices, groups=groups)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a person should act on."""
        return tuple(one.warning for one in self.slices if one.warning is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueHealth:
    """Reads the health of one workspace's queue; it only looks."""

    reviews: ReviewStore
    flow: QueueFlow
    offers: Offers
    clock: Clock
    workspace: str

    async def read(self, days: int = SHOWN_DAYS) -> QueueReport:
        """Return figures over the last `days`, today included. Raises InvalidInput below 1."""
        if days < 1:
            raise InvalidInput(f"expected 1 or more, got {days}", field="days")
        now = self.clock.now()
        policy = await self.offers.policy()
        counts = await self.reviews.counts(self.workspace)
        flows = await self.flow.since(self.workspace, day_number(now) - days + 1)
        known = set() if policy is None else set(policy.slices)
        busy = {one.slice_key for one in flows} | {
            one.slice_key for one in counts if one.state.is_open
        }
        rows = [
            _row(key, policy, _of(counts, {key}), _of(flows, {key}), now)
            for key in sorted(busy | known)
        ]
        groups = {} if policy is None else policy.groups
        return QueueReport(
            at=now,
            slices=tuple(rows),
            groups=tuple(
                _figures(
                    one.name,
                    None,
                    policy,
                    _of(counts, set(one.slices)),
                    _of(flows, set(one.slices)),
                    now,
                )
                for one in groups.values()
                if one.slices
            ),
        )


def _quantile(waits: Mapping[int, int], share: float) -> timedelta | None:
    seconds = quantile(waits, share)
    return None if seconds is None else timedelta(seconds=seconds)


def _of(found: Iterable[Any], keys: set[str]) -> list[Any]:
    return [one for one in found if one.slice_key in keys]


def _row(
    key: str,
    policy: Policy | None,
    counts: Sequence[QueueCount],
    flows: Sequence[FlowCount],
    now: datetime,
) -> QueueRow:
    row = _figures(key, key, policy, counts, flows, now)
    return replace(row, overload=overload_of(row.load))


def _figures(
    name: str,
    key: str | None,
    policy: Policy | None,
    counts: Sequence[QueueCount],
    flows: Sequence[FlowCount],
    now: datetime,
) -> QueueRow:
    of_slice = None if policy is None or key is None else policy.slices.get(key)
    group = None if policy is None or key is None else group_of(policy.groups, key)
    # What waits for a person: nobody waits for an audit, and it would make all look old.
    waiting = [one for one in counts if one.state.is_open]
    asked = [one.oldest for one in waiting if one.kind is ReviewKind.REVIEW]
    oldest = min(asked, default=None)
    waits: Counter[int] = Counter()
    for one in flows:
        if one.cell.flow is Flow.DECIDED and one.kind is ReviewKind.REVIEW:
            waits[one.cell.waited] += one.count
    return QueueRow(
        name=name,
        group=None if group is None else group.name,
        load=Load(
            days=_window(flows, now),
            arrived=_arrived(flows),
            audits=_arrived([one for one in flows if one.kind is ReviewKind.AUDIT]),
            decided=_sum(flows, Flow.DECIDED),
            expired=_sum(flows, Flow.EXPIRED),
            open=sum(one.count for one in waiting),
            oldest=timedelta(0) if oldest is None else now - oldest,
            patience=_patience(of_slice, now),
            is_routed=of_slice is not None and of_slice.mode is Mode.ROUTE,
        ),
        escalated=sum(one.count for one in waiting if one.state is ReviewState.ESCALATED),
        oldest=oldest,
        waits=waits,
        is_current=of_slice is not None,
    )


def _sum(flows: Iterable[FlowCount], flow: Flow) -> int:
    return sum(one.count for one in flows if one.cell.flow is flow)


def _arrived(flows: Sequence[FlowCount]) -> int:
    return max(0, _sum(flows, Flow.OPENED) - _sum(flows, Flow.WITHDRAWN))


def _window(flows: Sequence[FlowCount], now: datetime) -> float:
    """Return the days that the counts are of: from the first of them to now, at least an hour."""
    today = day_number(now)
    first = min((one.cell.day for one in flows), default=today)
    passed = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    return max(today - first + passed / timedelta(days=1), 1 / 24)


def _patience(of_slice: SlicePolicy | None, now: datetime) -> timedelta:
    """Return how long an item that comes now may wait before it expires."""
    if of_slice is None:
        return timedelta(days=1)
    at = now
    for level in range(of_slice.review.escalations + 1):
        at = deadline_at(of_slice.review, level, at)
    return at - now


def queue_json(report: QueueReport) -> dict[str, Any]:
    """Return a report as JSON values; moments as ISO 8601, spans in seconds."""
    return {
        "at": report.at.isoformat(),
        "slices": [_row_json(one) for one in report.slices],
        "groups": [_row_json(one) for one in report.groups],
        "warnings": list(report.warnings),
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def _row_json(row: QueueRow) -> dict[str, Any]:
    load = row.load
    return {
        "name": row.name,
        "group": row.group,
        "days": load.days,
        "open": load.open,
        "escalated": row.escalated,
        "oldest": None if row.oldest is None else row.oldest.isoformat(),
        "arrived": load.arrived,
        "audits": load.audits,
        "decided": load.decided,
        "expired": load.expired,
        "arrivals_a_day": load.arrivals_a_day,
        "verdicts_a_day": load.verdicts_a_day,
        "in_a_week": row.in_a_week,
        "next_waits_seconds": _seconds(load.wait),
        "verdict_p50_seconds": _seconds(row.p50),
        "verdict_p95_seconds": _seconds(row.p95),
        "overload": None
        if row.overload is None
        else {
            "because": row.overload.because,
            "lever": row.overload.lever,
            "levers": [{"lever": lever, "words": words} for lever, words in row.overload.levers],
        },
    }
