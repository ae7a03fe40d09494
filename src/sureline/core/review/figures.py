"""Find figures and dates in a text, and what each could have been misread as (R7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_FIGURE = re.compile(r"\d+(?:[.,'\u00a0\u202f]\d{3})*(?:[.,]\d+)?(?!\d)")
_DATE = re.compile(
    r"(?<![\d./-])(?:(?P<iso>\d{4}-\d{2}-\d{2})|(?P<day>\d{1,2}(?P<mark>[./])\d{1,2}(?P=mark)\d{4}))"
    r"(?![\d/-])"
)
_MONTHS = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
_MONTH_AFTER = re.compile(rf"(?:st|nd|rd|th|\.)?,? {_MONTHS}\b", re.IGNORECASE)
_MONTH_BEFORE = re.compile(rf"\b{_MONTHS}\.? $", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
LAST_SAFE_DAY = 28
"""Every month has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as it stands in a text, from `start` to `end`.

    `kind` is `amount` (it has decimals or three digits at least), `small`, `name` (part of a number
    that names something, such as INV-0042), `share` (before a percent sign) or `day`.
    """

    text: str
    start: int
    end: int
    kind: str

    @property
    def value(self) -> float:
        """Return what it says; a point or comma before anything but three digits is decimal."""
        body, _, cents = _parts(self.text)
        return float(f"{re.sub(r'[^0-9]', '', body)}.{cents or 0}")

    @property
    def form(self) -> tuple[int, str]:
        """Return how it is written: the number of decimals, and the marks in it."""
        return len(_parts(self.text)[2]), "".join(sorted(set(re.sub(r"\d", "", self.text))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure or date that could have been written in place of another, and how it came about."""

    old: str
    new: str
    way: str


def dates_in(text: str) -> list[re.Match[str]]:
    """Return the dates that are written in figures."""
    return list(_DATE.finditer(text))


def figures_in(text: str) -> list[Figure]:
    """Return the figures of a text that are no part of a date, a year or a time."""
    covered = [match.span() for match in dates_in(text)]
    found = []
    for match in _FIGURE.finditer(text):
        start, end = match.span()
        if any(start < last and first < end for first, last in covered):
            continue
        kind = _kind(text, match[0], start, end)
        if kind is not None:
            found.append(Figure(text=match[0], start=start, end=end, kind=kind))
    return found


def _kind(text: str, figure: str, start: int, end: int) -> str | None:
    before, after = text[max(0, start - 12) : start], text[end : end + 14]
    if before[-1:] == ":" or (after[:1] == ":" and after[1:2].isdigit()):
        return None  # a time of day
    if _MONTH_AFTER.match(after) or _MONTH_BEFORE.search(before):
        return "day" if len(figure) <= 2 and 1 <= int(figure) <= LAST_SAFE_DAY else None
    if before[-1:].isalpha() or before[-1:] in {"-", "_", "#", "/"} or after[:1].isalpha():
        return "name"
    if after.lstrip()[:1] == "%":
        return "share"
    if figure.isdigit() and len(figure) == 4 and "1900" <= figure < "2100":
        return None  # a year
    return "amount" if len(_DIGIT.findall(figure)) >= 3 else "small"


def misread(figure: Figure, others: list[Figure], pick: int) -> Iterator[Change]:
    """Yield what an agent could have written in place of a figure; `pick` settles which.

    `others` are the figures of the sources: one that is written alike may have been taken.
    """
    if figure.kind == "day":
        day = (int(figure.text) - 1 + 1 + pick % 9) % LAST_SAFE_DAY + 1
        yield Change(old=figure.text, new=str(day), way="changed_date")
        return
    alike = [one for one in others if _could_be_taken(one, figure)]
    if alike and figure.kind in {"amount", "small"}:
        yield Change(old=figure.text, new=alike[pick % len(alike)].text, way="other_figure")
    yield from swapped_digits(figure.text, pick)
    yield from mistyped(figure.text, pick)
    if figure.kind == "amount":
        yield from shifted(figure.text, pick)


def _could_be_taken(one: Figure, figure: Figure) -> bool:
    if one.kind != figure.kind or one.form != figure.form or one.value == figure.value:
        return False
    low, high = sorted((one.value, figure.value))
    return low > 0 and high <= 1000 * low


def swapped_digits(figure: str, pick: int) -> Iterator[Change]:
    """Yield the figure with two neighbouring digits swapped, if that makes another one."""
    places = [match.start() for match in _DIGIT.finditer(figure)]
    pairs = [
        (one, two)
        for one, two in pairwise(places)
        if figure[one] != figure[two] and not (one == places[0] and figure[two] == "0")
    ]
    if pairs:
        one, two = pairs[pick % len(pairs)]
        digits = list(figure)
        digits[one], digits[two] = digits[two], digits[one]
        yield Change(old=figure, new="".join(digits), way="swapped_digits")


def mistyped(figure: str, pick: int) -> Iterator[Change]:
    """Yield the figure with one digit a little off; the first one becomes no zero."""
    places = [match.start() for match in _DIGIT.finditer(figure)]
    place = places[pick % len(places)]
    steps = (1, -1, 2, -2, 3)
    low = 1 if place == places[0] and len(places) > 1 else 0
    if len(places) == 1:
        low = 1
    fitting = [one for one in steps if low <= int(figure[place]) + one <= 9]
    step = fitting[(pick // 7) % len(fitting)]
    new = f"{figure[:place]}{int(figure[place]) + step}{figure[place + 1 :]}"
    yield Change(old=figure, new=new, way="mistyped_digit")


def shifted(figure: str, pick: int) -> Iterator[Change]:
    """Yield the figure ten times as large or as small, written in the same way."""
    body, mark, cents = _parts(figure)
    if not body.isdigit() or body.startswith("0"):
        return
    if mark and pick % 2:
        up = f"{body}{cents[0]}{mark}{cents[1:]}0"
        yield Change(old=figure, new=up, way="shifted_decimal")
    elif mark and len(body) > 1:
        down = f"{body[:-1]}{mark}{body[-1]}{cents[:-1]}"
        yield Change(old=figure, new=down, way="shifted_decimal")
    elif not mark and body.endswith("0") and len(body) > 3:
        yield Change(old=figure, new=body[:-1], way="shifted_decimal")


def moved(date: re.Match[str], pick: int) -> Iterator[Change]:
    """Yield the date a few days or a month off, written in the same way and valid."""
    text = date[0]
    if date["iso"]:
        year, month, day = text.split("-")
        for new in _near(int(month), int(day), LAST_SAFE_DAY, pick):
            yield Change(old=text, new=f"{year}-{new[0]:02d}-{new[1]:02d}", way="changed_date")
        return
    mark = date["mark"]
    one, two, year = text.split(mark)
    day_first = mark == "." or int(one) > 12
    day, month = (one, two) if day_first else (two, one)
    most = LAST_SAFE_DAY if mark == "." or int(day) > 12 else 12  # else either may be the day
    for new_month, new_day in _near(int(month), int(day), most, pick):
        written = [f"{new_day:0{len(day)}d}", f"{new_month:0{len(month)}d}"]
        if not day_first:
            written.reverse()
        yield Change(old=text, new=mark.join([*written, year]), way="changed_date")


def _near(month: int, day: int, most: int, pick: int) -> Iterator[tuple[int, int]]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return
    offsets = [one for one in (-9, -7, -3, -2, -1, 1, 2, 3, 7, 9) if 1 <= day + one <= most]
    if offsets:
        yield month, day + offsets[pick % len(offsets)]
    other = month + (1 if month == 1 or (pick % 2 and month < 12) else -1)
    if day <= LAST_SAFE_DAY:
        yield other, day


def _parts(figure: str) -> tuple[str, str, str]:
    """Return what stands before the decimal mark, the mark, and the decimals; both may be ""."""
    found = re.fullmatch(r"(.*)([.,])(\d+)", figure)
    if found is None:
        return figure, "", ""
    body, mark, rest = found.groups()
    if len(rest) == 3 and (mark in body or not re.search(r"\D", body)) and len(body) <= 3:
        return figure, "", ""  # thousands
    if len(rest) == 3 and mark in body:
        return figure, "", ""
    return body, mark, rest
