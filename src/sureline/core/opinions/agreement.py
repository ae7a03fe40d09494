"""How far further generations give the same values as an output, field by field (G12)."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sureline.core.canonical import json_bytes
from sureline.core.checks.paths import ABSENT, render_path
from sureline.core.checks.result import MAX_FINDINGS, cut
from sureline.core.values.finding import Finding

MAX_FIELDS = 2000
"""An output with more is not compared; it bounds the time."""

_LONGEST_PATH = 200
_LONGEST_VALUE = 80

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far `generations` further generations agree with an output of so many `fields`.

    `value` in [0, 1] is the mean over the generations of how much of the output each repeats.
    `lowest` in [0, 1] is the share of generations that agree on the field where fewest do.
    `findings` name the fields that are disputed, most disputed first.
    """

    value: float
    generations: int
    fields: int
    lowest: float
    findings: tuple[Finding, ...]


def agreement(output: object, generations: Sequence[object]) -> Agreement | None:
    """Compare JSON values with an output; None for an output of more than MAX_FIELDS fields.

    ABSENT stands for a generation that could not be read: it agrees with nothing. One generation's
    agreement is the mean over the keys of an object or the places of a list, those of either side,
    and so on inwards, so that neither a long list nor added fields outweigh the others. Numbers
    agree by value (1 and 1.0), booleans are none; texts agree where they are equal in Unicode's
    normal form C; the order of a list counts; what is absent is not null. Each generation counts by
    itself: their order does not matter, and one that agrees less never raises the value.

    Raises ValueError without generations.
    """
    if not generations:
        raise ValueError("expected at least one generation")
    places: dict[Steps, object] = {}
    for steps, value in _leaves(output, ()):
        if len(places) == MAX_FIELDS:
            return None
        places[steps] = value
    compared = _Compared()
    shares = [compared.share(output, one, ()) for one in generations]
    n = len(generations)
    most = max(map(len, compared.others.values()), default=0)
    return Agreement(
        value=round(math.fsum(shares) / n, 12),
        generations=n,
        fields=len(places),
        lowest=round((n - most) / n, 6),
        findings=_findings(places, compared.others, n),
    )


@dataclass(slots=True)
class _Compared:
    """What generations said at each place where they differ from the output."""

    others: dict[Steps, list[object]] = field(default_factory=dict)

    def share(self, one: object, other: object, where: Steps) -> float:
        """Return how much of `one` another value repeats, in [0, 1], and note what it does not."""
        mine, theirs = _parts(one), _parts(other)
        if mine is None or theirs is None or isinstance(one, dict) is not isinstance(other, dict):
            return self._whole(one, other, where)
        if not mine and not theirs:
            return 1.0
        shares = []
        for step, value in mine.items():
            there = theirs.get(step, ABSENT)
            shares.append(self.share(value, there, (*where, step)))
        added = [step for step in theirs if step not in mine]
        for step in added:
            self.others.setdefault((*where, step), []).append(theirs[step])
        return math.fsum(shares) / (len(mine) + len(added))

    def _whole(self, one: object, other: object, where: Steps) -> float:
        if _same(one, other):
            return 1.0
        for steps, _ in _leaves(one, where):
            said = other if steps == where else ABSENT
            self.others.setdefault(steps, []).append(said)
        return 0.0


def _parts(value: object) -> Mapping[str | int, object] | None:
    """Return what an object or list consists of, None for anything else."""
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else None


def _leaves(value: object, where: Steps) -> Iterator[tuple[Steps, object]]:
    """Yield all values that consist of nothing further, with the steps to them."""
    parts = _parts(value)
    if not parts:
        yield where, value
        return
    for step, inner in parts.items():
        yield from _leaves(inner, (*where, step))


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return _normal(one) == _normal(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    return one is None and other is None


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _findings(
    places: Mapping[Steps, object], others: Mapping[Steps, list[object]], n: int
) -> tuple[Finding, ...]:
    """Name the disputed fields; in an order that does not hang on the generations' order."""
    order = {steps: place for place, steps in enumerate(places)}
    ranked = sorted(
        others,
        key=lambda steps: (-len(others[steps]), order.get(steps, len(order)), _path(steps) or ""),
    )
    told = [_finding(steps, places, others[steps], n) for steps in ranked[:MAX_FINDINGS]]
    return cut(told, len(ranked))


def _finding(
    steps: Steps, places: Mapping[Steps, object], said: Sequence[object], n: int
) -> Finding:
    counts = Counter(map(_told, said))
    often = min(counts, key=lambda text: (-counts[text], text))
    who = f"{len(said)} of {n} further generations"
    if steps in places:
        message = f"{who} say otherwise, most often {often}; here it is {_told(places[steps])}."
        return Finding(code="generations_differ", message=message, field=_path(steps))
    message = f"{who} have this field, most often with {often}; it is missing here."
    return Finding(code="generations_have_more", message=message, field=_path(steps))


def _told(value: object) -> str:
    return "nothing" if value is ABSENT else _short(json_bytes(value).decode(), _LONGEST_VALUE)


def _path(steps: Steps) -> str | None:
    path = render_path(steps)
    return None if path is None else _short(path, _LONGEST_PATH)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "..."
