"""Health of second opinions: how often, how reliably, how fast and at what price (L5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from sureline.application.opinion_alarms import (
    HISTORY_DAYS,
    OpinionAlarm,
    alarms_of,
    alertness_for,
)
from sureline.application.opinion_series import OpinionSeries, series_of
from sureline.application.ports.clock import Clock
from sureline.application.ports.opinion_counts import OpinionCounts
from sureline.core.statistics.spike import Rate
from sureline.core.values.opinion_use import ASKED, DURATIONS, MILLION, UNTIMED, End
from sureline.core.values.periods import date_of, day_number
from sureline.errors import InvalidInput

SHOWN_DAYS = 28
TAIL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionHealth:
    """One model's opinions for one signal of one slice, over a window of days.

    `failures` counts the failed of those asked for, `disagreements` those against an output among
    the answered, `refuted` a judge's firm ones. `mean` in [0, 1] is that of the `valued` opinions
    only: it says nothing of the others, which is why `coverage` stands beside it. `cost` in US
    dollars is that of the `costed` ones. `mean_ms` and `p95_ms` are of the `timed` ones; the latter
    is the upper end of a class, at most 1.42 times too high. None where nothing is known.
    """

    slice_key: str
    signal: str
    model: str
    answered_by: Mapping[str, int]
    failures: Rate
    disagreements: Rate
    refuted: int
    reasons: Mapping[str, int]
    not_applicable: Mapping[str, int]
    not_sampled: int
    mean: float | None
    valued: int
    cost: float | None
    costed: int
    cost_a_day: float | None
    cost_each: float | None
    mean_ms: float | None
    p95_ms: int | None
    timed: int
    input_tokens: int
    output_tokens: int
    metered: int
    calls: int
    retries: int
    cached: int
    alarms: tuple[OpinionAlarm, ...]

    @property
    def asked(self) -> int:
        """Return how many opinions were asked for."""
        return self.failures.whole

    @property
    def coverage(self) -> float | None:
        """Return the share of those asked for that was answered; None where none was."""
        failed = self.failures.value
        return None if failed is None else 1 - failed

    @property
    def cached_share(self) -> float | None:
        """Return the share of opinions for which nothing had to be asked."""
        return self.cached / self.asked if self.asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """The opinions of a workspace from day `first` to day `last`, both included."""

    first: date
    last: date
    opinions: tuple[OpinionHealth, ...]

    @property
    def alarms(self) -> tuple[OpinionAlarm, ...]:
        """Return everything that a person must look at."""
        return tuple(alarm for one in self.opinions for alarm in one.alarms)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReader:
    """Reads the health of one workspace's second opinions; it only looks.

    `alpha` in (0, 1) bounds the expected false alarms of a year.
    """

    counts: OpinionCounts
    clock: Clock
    workspace: str
    alpha: float = 0.1

    async def read(self, days: int = SHOWN_DAYS) -> HealthReport:
        """Return figures over the last `days`, today included, and what alarms today.

        Alarms look at the same past whatever `days` is. Raises InvalidInput for fewer than 1 day.
        """
        if days < 1:
            raise InvalidInput(f"expected 1 or more, got {days}", field="days")
        today = day_number(self.clock.now())
        first = today - days + 1
        rows = await self.counts.days(self.workspace, min(first, today - HISTORY_DAYS + 1))
        series = series_of(rows)
        alertness = alertness_for(series, self.alpha)
        found = [
            _health(shown, today, alarms_of(one, today, alertness))
            for one in series
            if (shown := one.within(first, today)).rows
        ]
        return HealthReport(first=date_of(first), last=date_of(today), opinions=tuple(found))


def _health(of: OpinionSeries, today: int, alarms: tuple[OpinionAlarm, ...]) -> OpinionHealth:
    sums = of.sums
    days = today - min(row.day for row in of.rows) + 1
    cost = sums.cost / MILLION if sums.costed else None
    answered: dict[str, int] = {}
    for row in of.rows:
        if row.key.answered:
            answered[row.key.answered] = answered.get(row.key.answered, 0) + row.sums.count
    return OpinionHealth(
        slice_key=of.slice_key,
        signal=of.signal,
        model=of.model,
        answered_by=answered,
        failures=of.failures,
        disagreements=of.disagreements,
        refuted=of.count({End.REFUTED}),
        reasons=of.reasons(End.FAILED),
        not_applicable=of.reasons(End.NOT_APPLICABLE),
        not_sampled=of.count({End.NOT_SAMPLED}),
        mean=sums.value / MILLION / sums.valued if sums.valued else None,
        valued=sums.valued,
        cost=cost,
        costed=sums.costed,
        cost_a_day=None if cost is None else cost / days,
        cost_each=None if cost is None else cost / sums.costed,
        mean_ms=sums.ms / sums.timed if sums.timed else None,
        p95_ms=_tail_ms(of),
        timed=sums.timed,
        input_tokens=sums.input_tokens,
        output_tokens=sums.output_tokens,
        metered=sums.metered,
        calls=sums.calls,
        retries=sums.retries,
        cached=sums.cached,
        alarms=alarms,
    )


def _tail_ms(of: OpinionSeries) -> int | None:
    """Return the upper end of the duration class in which the 95th percentile lies."""
    counts = [0] * len(DURATIONS)
    for row in of.rows:
        if row.key.duration != UNTIMED and row.key.end in ASKED:
            counts[row.key.duration] += row.sums.timed
    total, seen = sum(counts), 0
    for place, count in enumerate(counts):
        seen += count
        if count and seen >= TAIL * total:
            return DURATIONS[place]
    return None


def health_json(report: HealthReport) -> dict[str, Any]:
    """Return a report as JSON values; dates as ISO 8601."""
    return {
        "first": report.first.isoformat(),
        "last": report.last.isoformat(),
        "opinions": [_opinion_json(one) for one in report.opinions],
        "alarms": [alarm_json(one) for one in report.alarms],
    }


def _opinion_json(one: OpinionHealth) -> dict[str, Any]:
    found = asdict(one)
    found |= {
        "asked": one.asked,
        "coverage": one.coverage,
        "cached_share": one.cached_share,
        "failures": rate_json(one.failures),
        "disagreements": rate_json(one.disagreements),
        "alarms": [alarm.kind for alarm in one.alarms],
    }
    return found


def alarm_json(one: OpinionAlarm) -> dict[str, Any]:
    """Return an alarm as JSON values."""
    return asdict(one) | {
        "since": one.since.isoformat(),
        "before": rate_json(one.before),
        "now": rate_json(one.now),
    }


def rate_json(rate: Rate) -> dict[str, Any]:
    """Return a rate with its share."""
    return {"part": rate.part, "whole": rate.whole, "share": rate.value}
