"""Alarms about second opinions: a model that fails more than it did, or answers otherwise (L5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from sureline.application.opinion_series import OpinionSeries
from sureline.core.statistics.spike import Alertness, Rate, Spike, began, spike
from sureline.core.values.opinion_use import End
from sureline.core.values.periods import date_of

WINDOWS = (1, 7)
"""Days, today included, that are compared with those before: a day for many, a week for few."""
REFERENCE_DAYS = 28
"""Days before a window that it is compared with."""
HISTORY_DAYS = REFERENCE_DAYS + max(WINDOWS)
"""Days, today included, that alarms look at."""
TESTS = 2 * len(WINDOWS)
"""How many tests one series gets at each look: failures and disagreements in each window."""

OFF_SCALE_REASONS = ("out_of_range", "not_finite")
"""How reasons end that speak of a number which is none on the scale."""
OFF_SCALE = 0.01
"""More replies off the scale than this share are an alarm: the prompt or the model is wrong."""
LEAST_OFF_SCALE = 3
LEAST_ASKED = 20
"""Fewer opinions than this in a week are not said to fail for the most part."""

FAILURES, DISAGREEMENTS = "failures", "disagreements"
FAILS_MOSTLY, OFF_THE_SCALE = "fails_mostly", "off_scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionAlarm:
    """Something about one signal's opinions that a person must look at; it changes no threshold.

    `kind` is failures or disagreements (a rate that moved), fails_mostly or off_scale (one that is
    too high, whatever it was before). `since` is the day on which it most likely began, `p_value`
    None for what is no test.
    """

    kind: str
    slice_key: str
    signal: str
    model: str
    since: date
    before: Rate
    now: Rate
    p_value: float | None
    sentence: str


def alarms_of(series: OpinionSeries, today: int, alertness: Alertness) -> tuple[OpinionAlarm, ...]:
    """Return what alarms today; `alertness` counts TESTS for each series that is looked at."""
    found = [
        *_moved(series, today, alertness, FAILURES, lambda one: one.failures),
        *_moved(series, today, alertness, DISAGREEMENTS, lambda one: one.disagreements),
        *_off_scale(series, today),
    ]
    if not any(one.kind == FAILURES for one in found):
        found += _fails_mostly(series, today)
    return tuple(found)


def _moved(
    series: OpinionSeries,
    today: int,
    alertness: Alertness,
    kind: str,
    rate: Callable[[OpinionSeries], Rate],
) -> Iterator[OpinionAlarm]:
    """Yield at most one alarm: that of the shortest window whose rate has moved."""
    for days in WINDOWS:
        first = today - days + 1
        found = spike(
            rate(series.within(first - REFERENCE_DAYS, first - 1)),
            rate(series.within(first, today)),
            alertness,
            # A judge that stops objecting is as suspect as one that objects to everything.
            falls_too=kind == DISAGREEMENTS,
        )
        if found.alarm:
            past = range(today - HISTORY_DAYS + 1, today + 1)
            by_day = [rate(series.within(day, day)) for day in past]
            since = past[began(by_day, found.before, found.now)]
            sentence = _sentence(series, kind, found, since)
            yield _alarm(series, kind, since, found.before, found.now, found.p_value, sentence)
            return


def _fails_mostly(series: OpinionSeries, today: int) -> Iterator[OpinionAlarm]:
    week = series.within(today - 6, today)
    failures = week.failures
    if failures.whole < LEAST_ASKED or 2 * failures.part <= failures.whole:
        return
    reasons = ", ".join(f"{name} {count}" for name, count in week.reasons(End.FAILED).items())
    sentence = (
        f"{_named(series)} gave no opinion on {failures.part} of {failures.whole} outputs of the "
        f"last 7 days ({reasons})"
    )
    since = min(row.day for row in week.rows)
    yield _alarm(series, FAILS_MOSTLY, since, Rate(part=0, whole=0), failures, None, sentence)


def _off_scale(series: OpinionSeries, today: int) -> Iterator[OpinionAlarm]:
    week = series.within(today - 6, today)
    off = [row for row in week.rows if row.key.reason.endswith(OFF_SCALE_REASONS)]
    share = Rate(part=sum(row.sums.count for row in off), whole=week.failures.whole)
    if share.part < LEAST_OFF_SCALE or share.part <= OFF_SCALE * share.whole:
        return
    sentence = (
        f"{_named(series)} answered off the scale {share.part} times in {share.whole} "
        f"(more than {OFF_SCALE:.0%}): it does not keep to the form of a reply"
    )
    since = min(row.day for row in off)
    yield _alarm(series, OFF_THE_SCALE, since, Rate(part=0, whole=0), share, None, sentence)


def _alarm(
    series: OpinionSeries,
    kind: str,
    since: int,
    before: Rate,
    now: Rate,
    p_value: float | None,
    sentence: str,
) -> OpinionAlarm:
    return OpinionAlarm(
        kind=kind,
        slice_key=series.slice_key,
        signal=series.signal,
        model=series.model,
        since=date_of(since),
        before=before,
        now=now,
        p_value=p_value,
        sentence=sentence,
    )


def _sentence(series: OpinionSeries, kind: str, found: Spike, since: int) -> str:
    does = "fails" if kind == FAILURES else "disagrees"
    often = "more often" if found.rose else "less often"
    return (
        f"{_named(series)} {does} {often} since about {date_of(since)}: {_said(found.now)}, before "
        f"{_said(found.before)}"
    )


def _said(rate: Rate) -> str:
    return f"{100 * (rate.value or 0.0):.1f} % ({rate.part} of {rate.whole})"


def _named(series: OpinionSeries) -> str:
    return f"{series.signal} ({series.model})" if series.model else series.signal


def alertness_for(series: Sequence[OpinionSeries], alpha: float) -> Alertness:
    """Share the false alarms of a year among all that is looked at."""
    return Alertness(alpha=alpha, series=max(1, len(series) * TESTS))
