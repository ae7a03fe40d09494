"""The opinions of one model for one signal of one slice, by day."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from sureline.application.ports.opinion_counts import OpinionDay, OpinionSums
from sureline.core.statistics.spike import Rate
from sureline.core.values.opinion_use import AGAINST, ANSWERED, ASKED, End


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionSeries:
    """All that was counted; `model` is the policy's name for it, empty for no model."""

    slice_key: str
    signal: str
    model: str
    rows: tuple[OpinionDay, ...]

    def within(self, first: int, last: int) -> OpinionSeries:
        """Return the part of the days from `first` to `last`, both included."""
        rows = tuple(row for row in self.rows if first <= row.day <= last)
        return OpinionSeries(
            slice_key=self.slice_key, signal=self.signal, model=self.model, rows=rows
        )

    def count(self, ends: Iterable[End]) -> int:
        """Return how many opinions ended so."""
        wanted = frozenset(ends)
        return sum(row.sums.count for row in self.rows if row.key.end in wanted)

    def reasons(self, end: End) -> Mapping[str, int]:
        """Return how often each reason was given for this end, most frequent first."""
        found: Counter[str] = Counter()
        for row in self.rows:
            if row.key.end is end:
                found[row.key.reason] += row.sums.count
        return dict(found.most_common())

    @property
    def failures(self) -> Rate:
        """Return the failed ones of those that were asked for."""
        return Rate(part=self.count({End.FAILED}), whole=self.count(ASKED))

    @property
    def disagreements(self) -> Rate:
        """Return those against an output of those that were answered."""
        return Rate(part=self.count(AGAINST), whole=self.count(ANSWERED))

    @property
    def sums(self) -> OpinionSums:
        """Return what all that were asked for add up to."""
        asked = [row.sums for row in self.rows if row.key.end in ASKED]
        return OpinionSums(
            **{one.name: sum(getattr(s, one.name) for s in asked) for one in fields(OpinionSums)}
        )


def series_of(days: Sequence[OpinionDay]) -> list[OpinionSeries]:
    """Group counts, oldest first, by slice, signal and model.

    An opinion that ended before a model was named (it came too late, or was not sampled) is
    counted for the model that was asked most on its day, else for the last before, else for the
    first after.
    """
    by_signal: dict[tuple[str, str], list[OpinionDay]] = defaultdict(list)
    for row in days:
        by_signal[row.slice_key, row.key.signal].append(row)
    found = []
    for (slice_key, signal), rows in sorted(by_signal.items()):
        named = _named(rows)
        by_model: dict[str, list[OpinionDay]] = defaultdict(list)
        for row in rows:
            by_model[row.key.asked or _nearest(named, row.day)].append(row)
        found += [
            OpinionSeries(slice_key=slice_key, signal=signal, model=model, rows=tuple(own))
            for model, own in sorted(by_model.items())
        ]
    return found


def _named(rows: Sequence[OpinionDay]) -> dict[int, str]:
    """Return by day, oldest first, which model was asked most."""
    asked: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.key.asked:
            asked[row.day][row.key.asked] += row.sums.count
    return {day: max(sorted(names), key=names.__getitem__) for day, names in sorted(asked.items())}


def _nearest(named: Mapping[int, str], day: int) -> str:
    earlier = [name for other, name in named.items() if other <= day]
    return earlier[-1] if earlier else next(iter(named.values()), "")
