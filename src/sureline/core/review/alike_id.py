"""Make an id that looks like those of its caller: a planted item's must not stand out (R7)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sureline.core.review.pick import Pick

_OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_NUMBERED = re.compile(r"(.*?)(\d{1,15})(\D*)", re.DOTALL)
TRIES = 50
FEW = 3
"""Of fewer ids it is not known whether they are a series: a number is taken for one."""
AROUND = 500
"""How far from a number one that was left out is looked for."""
AHEAD = 40
"""How far beyond the highest number another may lie: it stays free until so many have come."""


@dataclass(frozen=True, slots=True)
class _Number:
    before: str
    width: int
    value: int
    after: str

    @property
    def series(self) -> tuple[str, str]:
        return self.before, self.after


def alike_ids(like: str, others: Sequence[str], pick: Pick) -> list[str]:
    """Return ids that look like `like` among the `others` of its slice, the best first.

    None for an id that sureline made itself: another of these looks like it. In a series of
    numbers they are numbers that were left out near that of `like`, then some a little beyond the
    last; any other id has its letters and digits drawn anew after the beginning that all have in
    common. Whether one is free is for the caller to see.
    """
    if _OURS.fullmatch(like):
        return []
    own = _number(like)
    same = [
        one for one in map(_number, {like, *others}) if one and own and one.series == own.series
    ]
    if own is not None and (len(same) > 1 or len(others) < FEW) and own.value < 10**9:
        tries = _numbers(own, sorted(one.value for one in same), pick)
        found = [_written(own, value, same) for value in tries]
    else:
        found = [_drawn(like, _common(like, others), pick, step) for step in range(TRIES)]
    return [one for one in dict.fromkeys(found) if one not in {like, *others}]


def opened_id(made: str, at: datetime) -> str:
    """Return an id of sureline's own that says that it was made `at` a moment (RFC 9562)."""
    if not _OURS.fullmatch(made):
        return made
    moment = f"{int(at.timestamp() * 1000):012x}"
    return f"{moment[:8]}-{moment[8:]}{made[13:]}"


def _number(text: str) -> _Number | None:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return None
    before, digits, after = found.groups()
    return _Number(before, len(digits), int(digits), after)


def _numbers(own: _Number, known: Sequence[int], pick: Pick) -> list[int]:
    """Return numbers to try: those left out near the own one, then some beyond the last."""
    used = set(known)
    around = range(max(known[0], own.value - AROUND), min(known[-1], own.value + AROUND))
    left_out = sorted(set(around) - used, key=lambda one: abs(one - own.value))
    near = left_out[:10]
    start = pick("gap", max(1, len(near)))
    beyond = known[-1] + AHEAD // 4 + pick("ahead", AHEAD)
    return [*near[start:], *near[:start], *range(beyond, beyond + TRIES)]


def _written(own: _Number, value: int, same: Sequence[_Number]) -> str:
    padded = Counter(one.width for one in same).most_common(1)[0][0]
    is_padded = any(len(str(one.value)) < one.width for one in same)
    width = padded if is_padded else 0
    return f"{own.before}{value:0{width}d}{own.after}"


def _common(like: str, others: Sequence[str]) -> int:
    """Return how many characters the ids begin with alike, not all of one."""
    alike = [one for one in others if one != like]
    count = 0
    for place, letter in enumerate(like[:-1]):
        if not alike or any(one[place : place + 1] != letter for one in alike):
            break
        count += 1
    return count


def _drawn(like: str, kept: int, pick: Pick, step: int) -> str:
    is_hex = re.search(r"[g-zG-Z]", like[kept:]) is None
    made = [like[:kept]]
    for place, letter in enumerate(like[kept:]):
        what = f"{step}:{place}"
        if letter.isdigit():
            made.append(str(pick(what, 10)))
        elif letter.isascii() and letter.isalpha():
            letters = "abcdef" if is_hex else "abcdefghijklmnopqrstuvwxyz"
            one = letters[pick(what, len(letters))]
            made.append(one.upper() if letter.isupper() else one)
        else:
            made.append(letter)
    return "".join(made)
