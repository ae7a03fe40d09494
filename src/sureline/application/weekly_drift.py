"""Compare a slice's scores week by week with those from before it was calibrated (L3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sureline.application.ports.ledger import RouteDay, ScoreCount
from sureline.core.statistics.drift import (
    Drift,
    ScoreWindow,
    Vigilance,
    drift_note,
    missing_drift,
    score_drift,
    score_window,
)
from sureline.core.statistics.drift_index import score_stability
from sureline.core.values.periods import day_number, first_day_of, week_number

REFERENCE_WEEKS = 13
"""Weeks before the calibration that scores are compared with; where there is none, the first 4."""
FIRST_WEEKS = 4
TWO_CYCLES = 60
"""Days after which two months have been recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekDrift:
    """The latest whole week (named by its Monday, UTC) against the reference.

    `scores` compares the scores, `unscored` how many outputs had none that a threshold could have
    used. `stability` is the PSI, a number to look at only. `reference` are the first and the last
    Monday of the reference, `alarmed` every week since then that alarmed.
    """

    week: date
    scores: Drift
    unscored: Drift
    stability: float | None
    note: str
    reference: tuple[date, date]
    alarmed: tuple[date, ...]

    @property
    def alarm(self) -> bool:
        """Tell whether this week alarms."""
        return self.scores.alarm or self.unscored.alarm


def weekly_drift(
    scores: Sequence[ScoreCount],
    days: Sequence[RouteDay],
    *,
    fixed_at: datetime | None,
    now: datetime,
    alpha: float,
) -> WeekDrift | None:
    """Test every whole week since the reference; None without a reference or such a week.

    `scores` and `days` are one slice's. The reference are the weeks before `fixed_at`; without
    scores there, the first weeks with scores. The week that is still going on is never tested.
    """
    if not scores:
        return None
    this_week = week_number(day_number(now))
    reference = _reference(scores, fixed_at, this_week)
    totals: Counter[int] = Counter()
    for day in days:
        totals[week_number(day.day)] += day.count
    weeks = [week for week in sorted(totals) if reference[-1] < week < this_week]
    if not weeks:
        return None
    by_week = {week: _window(scores, [week], totals) for week in weeks}
    base = _window(scores, reference, totals)
    # In the first week, part of the decisions may have been measured otherwise.
    whole = _window(scores, reference[1:] or reference, totals)
    tested = [_test(base, whole, by_week[week], week - reference[-1], alpha) for week in weeks]
    alarms = [w for w, pair in zip(weeks, tested, strict=True) if pair[0].alarm or pair[1].alarm]
    spread, unscored = tested[-1]
    recorded = day_number(now) - min(one.day for one in days)
    return WeekDrift(
        week=first_day_of(weeks[-1]),
        scores=spread,
        unscored=unscored,
        stability=score_stability(base, by_week[weeks[-1]]),
        note=drift_note(
            spread if spread.alarm or not unscored.alarm else unscored,
            two_cycles=recorded >= TWO_CYCLES,
        ),
        reference=(first_day_of(reference[0]), first_day_of(reference[-1])),
        alarmed=tuple(first_day_of(week) for week in alarms),
    )


def _reference(
    scores: Sequence[ScoreCount], fixed_at: datetime | None, this_week: int
) -> list[int]:
    """Return the reference's weeks, oldest first; at least one."""
    known = sorted({one.week for one in scores})
    if fixed_at is not None:
        fixed = week_number(day_number(fixed_at))
        before = [week for week in known if fixed - REFERENCE_WEEKS <= week < fixed]
        if before:
            return list(range(before[0], fixed))
    first = known[0]
    return list(range(first, min(first + FIRST_WEEKS, max(first + 1, this_week))))


def _window(
    scores: Sequence[ScoreCount], weeks: Sequence[int], totals: Mapping[int, int]
) -> ScoreWindow:
    chosen = [one for one in scores if one.week in weeks]
    scored = sum(one.count for one in chosen)
    return score_window(
        [one.score_bin for one in chosen],
        [one.count for one in chosen],
        unmeasured=max(0, sum(totals[week] for week in weeks) - scored),
    )


def _test(
    reference: ScoreWindow, whole: ScoreWindow, now: ScoreWindow, number: int, alpha: float
) -> tuple[Drift, Drift]:
    vigilance = Vigilance(week=number, alpha=alpha, series=2)
    return (
        score_drift(reference, now, vigilance),
        missing_drift(
            (whole.unmeasured, whole.n + whole.unmeasured),
            (now.unmeasured, now.n + now.unmeasured),
            vigilance,
        ),
    )
