"""Make an output wrong as an agent would: misread, mistyped, mixed up, never absurd (R7)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.core.review.figures import (
    Change,
    Figure,
    dates_in,
    figures_in,
    misread,
    mistyped,
    moved,
    swapped_digits,
)
from sureline.core.review.pick import Pick

MANY = 10_000
"""More than there are ways to misread one figure."""
MOST = 12
"""How many ways of spoiling an output are offered."""
_LATER = {"small": 600, "name": 500, "share": 300, "day": 300}
"""What is changed only where a draw favours it: amounts matter most."""
_FORM = (
    r"(?:GmbH|AG|KG|Ltd|Limited|Inc|LLC|LLP|Corp|Corporation|Co|Company|SA|SARL|SAS|BV|NV|PLC|Oy|AB|"
    r"SDN BHD)"
)
_COMPANY = re.compile(rf"(?:[A-Z][\w&'-]*,? ){{1,4}}{_FORM}\b(?!\w)")
_LABELLED = re.compile(
    r"(?:customer|supplier|buyer|seller|vendor|bill to|ship to|sold to|tenant|landlord|payer|payee|"
    r"client|from|to): *([A-Z][\w&'.-]*(?: [A-Z][\w&'.-]*){0,3})",
    re.IGNORECASE,
)

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoilt:
    """An output with one thing wrong: `gone` is the text that is no longer there."""

    output: Any
    way: str
    gone: str


def spoilings(output: Any, sources: Sequence[str], pick: Pick) -> list[Spoilt]:
    """Return outputs with one thing in them wrong, in an order that `pick` settles, MOST at most.

    Keys keep their order, figures their form and texts their wording; what is written in place of
    something else could have been misread from the sources, mistyped or mixed up. There are none
    of an output without figures, dates and the names of parties.
    """
    figures = [one for text in sources for one in figures_in(text)]
    names = list(dict.fromkeys(one for text in sources for one in names_in(text)))
    offered: list[tuple[int, Place, Change]] = []
    for place, leaf in leaves(output):
        for late, change in _changes(leaf, figures, names, pick, str(place)):
            order = late + pick(f"order{place}{change}", 1000)
            offered.append((order, place, change))
    offered.sort(key=lambda one: (one[0], str(one[1]), one[2].new))
    found = []
    for _, place, change in offered[:MOST]:
        spoilt = _with(output, place, change)
        if spoilt != output:
            found.append(Spoilt(output=spoilt, way=change.way, gone=change.old))
    return found


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield what is neither object nor list, with where it stands."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*place, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from leaves(one, (*place, index))
    else:
        yield place, value


def names_in(text: str) -> list[str]:
    """Return the names of parties: companies by their legal form, and what a label says."""
    labelled = (match[1].strip() for match in _LABELLED.finditer(text))
    companies = (match[0].strip() for match in _COMPANY.finditer(text))
    return [one for one in (*companies, *labelled) if len(one) > 2]


def _changes(
    leaf: Any, figures: list[Figure], names: list[str], pick: Pick, place: str
) -> Iterator[tuple[int, Change]]:
    """Yield how a leaf could be wrong, each with how much later than others it comes."""
    if isinstance(leaf, str):
        yield from _in_text(leaf, figures, names, pick, place)
    elif isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
        for change in _of_number(leaf, figures, pick(f"number{place}", MANY)):
            is_small = abs(leaf) < 100 or change.way == "changed_date"
            yield (300 if is_small else 0), change


def _in_text(
    text: str, figures: list[Figure], names: list[str], pick: Pick, place: str
) -> Iterator[tuple[int, Change]]:
    for figure in figures_in(text):
        for change in misread(figure, figures, pick(f"{place}{figure.start}", MANY)):
            yield _LATER.get(figure.kind, 0), change
    for date in dates_in(text):
        for change in moved(date, pick(f"{place}{date.start()}", MANY)):
            yield 200, change
    for name in names:
        others = [one for one in names if one.casefold() not in text.casefold()]
        if name in text and others:
            other = others[pick(f"{place}{name}", len(others))]
            yield 200, Change(old=name, new=other, way="swapped_names")


def _of_number(value: float, figures: list[Figure], pick: int) -> Iterator[Change]:
    """Yield what a JSON number could have been misread as; years and codes stay plausible."""
    text = repr(abs(value))
    if not re.fullmatch(r"\d+(?:\.\d+)?", text) or (isinstance(value, float) and value == 0):
        return
    if isinstance(value, int) and 1900 <= value < 2100:
        yield Change(old=str(value), new=str(value + (1 if pick % 2 else -1)), way="changed_date")
        return
    body, _, cents = text.partition(".")
    cents = "" if cents == "0" else cents
    taken = [one.value for one in figures if one.kind == "amount" and _is_like(one.value, value)]
    if taken:
        yield _number(value, taken[pick % len(taken)], "other_figure")
    plain = f"{body}.{cents}" if cents else body
    for change in (*swapped_digits(plain, pick), *mistyped(plain, pick)):
        yield _number(value, float(change.new), change.way)
    for by in (10, 0.1) if abs(value) >= 100 else ():
        moved_to = round(abs(value) * by, len(cents))
        if math.isclose(moved_to, abs(value) * by) and (by < 1 or moved_to < 10**9):
            yield _number(value, moved_to, "shifted_decimal")


def _is_like(found: float, value: float) -> bool:
    low, high = sorted((abs(found), abs(value)))
    whole = isinstance(value, float) or found.is_integer()
    return whole and low >= 100 and high <= 1000 * low and low != high


def _number(value: float, new: float, way: str) -> Change:
    sign = -1 if math.copysign(1, value) < 0 else 1
    kept = int(new) * sign if isinstance(value, int) else float(new) * sign
    return Change(old=repr(value), new=repr(kept), way=way)


def _with(value: Any, place: Place, change: Change) -> Any:
    """Return a copy in which one leaf is changed; in a text everywhere where it stands alone."""
    if place:
        key, rest = place[0], place[1:]
        if isinstance(value, dict):
            return {
                name: _with(one, rest, change) if name == key else one
                for name, one in value.items()
            }
        return [_with(one, rest, change) if at == key else one for at, one in enumerate(value)]
    if isinstance(value, str):
        alone = rf"(?<![\w.,]){re.escape(change.old)}(?!\w)(?![.,]\d)"
        spoilt = re.sub(alone, lambda _: change.new, value)
        return spoilt if spoilt != value else value.replace(change.old, change.new, 1)
    return int(change.new) if isinstance(value, int) else float(change.new)
