"""Compare two variants of an agent on the same slice (L11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sureline.application.policies import PolicyBook
from sureline.application.ports.ledger import Ledger
from sureline.application.recorded import recorded
from sureline.core.learning.replay import Recorded
from sureline.core.statistics.comparison import (
    Difference,
    Pairs,
    independent_difference,
    labels_to_see,
    paired_difference,
)
from sureline.core.statistics.stratified import StratifiedShare, Stratum, stratified_share
from sureline.core.values.decision import Route
from sureline.errors import InvalidInput, UnknownSlice

WORTH_SEEING = 0.03
"""The difference of accuracy for which the labels still needed are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One variant's first attempts: how many, how many automated, and its accuracy.

    `automated` counts the route that would have been taken where the slice only records.
    """

    variant: str
    items: int
    automated: int
    accuracy: StratifiedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two variants on one slice, b against a, with a verdict in words."""

    slice_key: str
    a: Side
    b: Side
    shared: int
    accuracy: Difference
    automation: Difference
    verdict: tuple[str, ...]


@dataclass(slots=True)
class _Variant:
    """One variant's decisions, by the task with its source."""

    items: dict[bytes, Recorded] = field(default_factory=dict)

    def side(self, variant: str) -> Side:
        strata: dict[float, list[int]] = {}
        for one in self.items.values():
            stratum = strata.setdefault(one.propensity, [0, 0, 0])
            stratum[0] += 1
            if one.sampled and one.correct is not None:
                stratum[1] += 1
                stratum[2] += one.correct
        return Side(
            variant=variant,
            items=len(self.items),
            automated=sum(one.route is Route.AUTO_APPROVE for one in self.items.values()),
            accuracy=stratified_share(
                [Stratum(size=n, labels=k, correct=c) for _, (n, k, c) in sorted(strata.items())]
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Compares variants in one workspace."""

    ledger: Ledger
    policies: PolicyBook
    workspace: str

    async def compare(
        self, slice_key: str, a: str, b: str, *, since: datetime | None = None
    ) -> Comparison:
        """Compare the first attempts of variant `b` with those of `a`.

        Items that both have seen are compared in pairs where at least half of the smaller side's
        labels are of such items. Raises UnknownSlice, and InvalidInput for a variant without
        decisions.
        """
        policy = await self.policies.latest()
        if slice_key not in policy.slices:
            known = ", ".join(sorted(policy.slices))
            raise UnknownSlice(f"no slice {slice_key!r} (there is: {known})", field="slice")
        variants = await self._read(slice_key, (a, b), since)
        for name in (a, b):
            if not variants[name].items:
                raise InvalidInput(
                    f"no decision in slice {slice_key!r} has the variant {name!r}", field="variant"
                )
        return _comparison(slice_key, (a, b), variants)

    async def _read(
        self, slice_key: str, names: tuple[str, str], since: datetime | None
    ) -> Mapping[str, _Variant]:
        found = {name: _Variant() for name in names}
        async for past in self.ledger.past_decisions(self.workspace, slice_key, since):
            one = recorded(past, None)
            if one.variant in found and one.attempt == 1:
                found[one.variant].items.setdefault(past.task_digest, one)
        return found


def _comparison(
    slice_key: str, names: tuple[str, str], variants: Mapping[str, _Variant]
) -> Comparison:
    a, b = (variants[name] for name in names)
    side_a, side_b = a.side(names[0]), b.side(names[1])
    shared = [(a.items[task], b.items[task]) for task in a.items.keys() & b.items.keys()]
    labelled = [pair for pair in shared if all(_is_labelled(one) for one in pair)]
    fewest = min(side_a.accuracy.labels, side_b.accuracy.labels)
    if labelled and 2 * len(labelled) >= fewest:
        accuracy = paired_difference(_right(labelled))
    else:
        accuracy = independent_difference(
            side_a.accuracy.estimate,
            side_a.accuracy.effective,
            side_b.accuracy.estimate,
            side_b.accuracy.effective,
        )
    if 2 * len(shared) >= min(side_a.items, side_b.items):
        automation = paired_difference(_automated(shared))
    else:
        automation = independent_difference(
            side_a.automated / side_a.items,
            side_a.items,
            side_b.automated / side_b.items,
            side_b.items,
        )
    return Comparison(
        slice_key=slice_key,
        a=side_a,
        b=side_b,
        shared=len(shared),
        accuracy=accuracy,
        automation=automation,
        verdict=(
            _words(names, "accuracy", accuracy),
            _words(names, "automation", automation),
            *_unseen((side_a, side_b)),
        ),
    )


def _is_labelled(one: Recorded) -> bool:
    return one.sampled and one.correct is not None


_Cells = dict[tuple[bool, bool], float]


def _right(pairs: Iterable[tuple[Recorded, Recorded]]) -> Pairs:
    """Weight each labelled pair by how rarely it is labelled; scale to the effective number."""
    cells: _Cells = {}
    total = squares = 0.0
    for a, b in pairs:
        weight = 1.0 / (a.propensity * b.propensity)
        total, squares = total + weight, squares + weight**2
        _add(cells, bool(a.correct), bool(b.correct), weight)
    return _pairs(cells, total / squares)


def _automated(pairs: Iterable[tuple[Recorded, Recorded]]) -> Pairs:
    cells: _Cells = {}
    for a, b in pairs:
        _add(cells, a.route is Route.AUTO_APPROVE, b.route is Route.AUTO_APPROVE, 1.0)
    return _pairs(cells, 1.0)


def _add(cells: _Cells, a: bool, b: bool, weight: float) -> None:
    cells[a, b] = cells.get((a, b), 0.0) + weight


def _pairs(cells: _Cells, scale: float) -> Pairs:
    return Pairs(
        both=scale * cells.get((True, True), 0.0),
        only_a=scale * cells.get((True, False), 0.0),
        only_b=scale * cells.get((False, True), 0.0),
        neither=scale * cells.get((False, False), 0.0),
    )


def _unseen(sides: tuple[Side, Side]) -> list[str]:
    return [
        f"{side.variant}: {side.accuracy.unrepresented} items are of a kind that nobody was ever "
        "shown; the comparison of accuracy leaves them out"
        for side in sides
        if side.accuracy.unrepresented
    ]


def _words(names: tuple[str, str], what: str, found: Difference) -> str:
    """Say in a sentence what the interval shows."""
    if found.value is None:
        return f"{what}: nothing is known yet, because a side has no labels"
    low, high = (100 * end for end in found.interval)
    span = f"95 % interval {low:+.1f} to {high:+.1f} points"
    if found.shows:
        better = "higher" if found.shows > 0 else "lower"
        return f"{what}: {names[1]} is {better} than {names[0]}, {100 * found.value:+.1f} ({span})"
    sentence = f"{what}: no difference shown, {100 * found.value:+.1f} ({span})"
    if what == "accuracy" and found.share_a is not None:
        needed = labels_to_see(found.share_a, WORTH_SEEING)
        fewest = min(found.n_a, found.n_b)
        if not found.paired and fewest < needed:
            sentence += f"; {100 * WORTH_SEEING:.0f} points take about {needed} labels a side"
    return sentence
