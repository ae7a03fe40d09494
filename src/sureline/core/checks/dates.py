"""Read dates strictly: ISO 8601 always year-month-day, local orders only when stated.

Nothing is filled in from the current day, so that a reading never depends on when it is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from sureline.core.checks.folding import fold_digits
from sureline.core.checks.reading import AMBIGUOUS, UNREADABLE, Read, Unreadable, quote
from sureline.core.values.checks import Reading
from sureline.errors import PolicyError

# Japanese eras: the year before their first, their first and their last day. Meiji dates count
# only from the day on which Japan took up the Gregorian calendar.
_ERAS: Mapping[str, tuple[int, date, date]] = {
    "令和": (2018, date(2019, 5, 1), date.max),
    "平成": (1988, date(1989, 1, 8), date(2019, 4, 30)),
    "昭和": (1925, date(1926, 12, 25), date(1989, 1, 7)),
    "大正": (1911, date(1912, 7, 30), date(1926, 12, 24)),
    "明治": (1867, date(1873, 1, 1), date(1912, 7, 29)),
}
_ORDERS = ("YMD", "DMY", "MDY")
_MAX_LENGTH = 60

_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_NUMERIC = re.compile(r"([0-9]{1,4})([-/.]) ?([0-9]{1,2})\2 ?([0-9]{1,4})")
_MARKED = re.compile(r"([0-9]{4})[年년] ?([0-9]{1,2})[月월] ?([0-9]{1,2})[日일]")
_ERA = re.compile(rf"({'|'.join(_ERAS)})([0-9]{{1,2}}|元)年([0-9]{{1,2}})月([0-9]{{1,2}})日")
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class DateFormat:
    """How dates are written; `named` matches dates with a month's name, `search` any shape."""

    order: str | None
    era: bool
    months: Mapping[str, int]
    named: re.Pattern[str]
    search: re.Pattern[str]


@lru_cache(maxsize=64)
def date_format(reading: Reading) -> DateFormat:
    """Return the format of dates. Raises PolicyError for an unknown locale or date order."""
    if reading.date_order is not None and reading.date_order not in _ORDERS:
        expected = ", ".join(_ORDERS)
        raise PolicyError(
            f"reading.date_order: expected one of {expected}, got {reading.date_order!r}"
        )
    months = _month_names(reading.locale)
    names = "|".join(sorted(map(re.escape, months), key=len, reverse=True))
    day_first = rf"([0-9]{{1,2}}){_ORDINAL}[ -]?(?:de |d')?({names})\.?,?[ -]?(?:de )?([0-9]{{4}})"
    month_first = rf"({names})\.? ([0-9]{{1,2}}){_ORDINAL},? ([0-9]{{4}})"
    shapes = "|".join(
        re.sub(r"\((?!\?)", "(?:", shape)
        for shape in (_ERA.pattern, _MARKED.pattern, day_first, month_first)
    )
    numeric = r"[0-9]{1,4}[-/.] ?[0-9]{1,2}[-/.] ?[0-9]{1,4}"
    return DateFormat(
        order=reading.date_order,
        era=reading.japanese_era,
        months=months,
        named=re.compile(f"{day_first}|{month_first}"),
        search=re.compile(rf"(?<![0-9A-Za-z])(?<![0-9][-/.])(?:{shapes}|{numeric})(?![-/.]?[0-9])"),
    )


def read_date(text: str, form: DateFormat) -> Read[date] | Unreadable:
    """Read a text that is one date and nothing else."""
    folded, notes = fold_digits(text)
    if len(folded) > _MAX_LENGTH:
        return _unreadable(text)
    found = _ISO.fullmatch(folded) or _MARKED.fullmatch(folded)
    if found:
        return _make(text, *map(int, found.groups()), notes=notes)
    found = _ERA.fullmatch(folded)
    if found:
        return _read_era(text, found, form, notes)
    found = _NUMERIC.fullmatch(folded)
    if found:
        return _read_numeric(text, found, form, notes)
    found = form.named.fullmatch(folded.casefold())
    if found:
        first, name, year, name_first, second, year_last = found.groups()
        month = form.months[name or name_first]
        return _make(text, int(year or year_last), month, int(first or second), notes=notes)
    return _unreadable(text)


def find_dates(text: str, form: DateFormat) -> Iterator[date]:
    """Yield every date in a text that reads without doubt; `text` has its digits folded."""
    for found in form.search.finditer(text.casefold()):
        read = read_date(found.group(), form)
        if isinstance(read, Read):
            yield read.value


def _month_names(locale: str) -> dict[str, int]:
    from babel.core import Locale, UnknownLocaleError

    try:
        months = Locale.parse(locale.replace("-", "_")).months
    except (ValueError, UnknownLocaleError, TypeError) as error:
        raise PolicyError(f"reading.locale: no such locale {locale!r}") from error
    return {
        fold_digits(name)[0].casefold().rstrip("."): number
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in months[context][width].items()
        if not name[:1].isdigit()
    } or {"\0": 0}


def _read_era(
    text: str, found: re.Match[str], form: DateFormat, notes: tuple[str, ...]
) -> Read[date] | Unreadable:
    if not form.era:
        message = f"{quote(text)} is an era date, and reading.japanese_era is off."
        return Unreadable(code=UNREADABLE, message=message)
    era, year, month, day = found.groups()
    zero, first, last = _ERAS[era]
    number = 1 if year == "元" else int(year)
    read = _make(text, zero + number, int(month), int(day), notes=notes)
    if isinstance(read, Read) and not first <= read.value <= last:
        return Unreadable(code=UNREADABLE, message=f"{quote(text)} is not within its era.")
    return read


def _read_numeric(
    text: str, found: re.Match[str], form: DateFormat, notes: tuple[str, ...]
) -> Read[date] | Unreadable:
    first, _, second, third = found.groups()
    if form.order is None:
        message = f"{quote(text)} needs reading.date_order: day and month cannot be told apart."
        return Unreadable(code=AMBIGUOUS, message=message)
    year, month, day = {
        "YMD": (first, second, third),
        "DMY": (third, second, first),
        "MDY": (third, first, second),
    }[form.order]
    if len(year) == 2 and len(first) <= 2 and len(third) <= 2:
        message = f"{quote(text)} leaves the century open."
        return Unreadable(code=AMBIGUOUS, message=message)
    if len(year) != 4 or len(month) > 2 or len(day) > 2:
        message = f"{quote(text)} is no date in the order {form.order}."
        return Unreadable(code=UNREADABLE, message=message)
    return _make(text, int(year), int(month), int(day), notes=notes)


def _make(
    text: str, year: int, month: int, day: int, *, notes: tuple[str, ...]
) -> Read[date] | Unreadable:
    try:
        return Read(value=date(year, month, day), notes=notes)
    except ValueError:
        return Unreadable(code=UNREADABLE, message=f"{quote(text)} is no day of the calendar.")


def _unreadable(text: str) -> Unreadable:
    message = f"{quote(text)} is no date (expected such as 2026-06-15)."
    return Unreadable(code=UNREADABLE, message=message)
