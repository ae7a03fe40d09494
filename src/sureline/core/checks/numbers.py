"""Read numbers strictly, by a locale's separators and grouping (data: CLDR).

The grammar is our own: underscores, exponents, leading zeros and ill-formed groups are refused,
and what cannot be read is a violation, never a shorter number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from sureline.core.checks.folding import fold_digits
from sureline.core.checks.json_value import MAX_DIGITS
from sureline.core.checks.reading import NON_FINITE, UNREADABLE, Read, Unreadable, quote
from sureline.errors import PolicyError

_NON_FINITE = frozenset({"nan", "inf", "infinity"})
_ARABIC = {"\u066b": "decimal", "\u066c": "group"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """How a locale writes numbers; `group` is a space for every kind of space (case S05)."""

    locale: str
    decimal: str
    group: str
    whole: re.Pattern[str]
    token: re.Pattern[str]


@lru_cache(maxsize=64)
def number_format(locale: str) -> NumberFormat:
    """Return a locale's number format. Raises PolicyError for an unknown locale."""
    from babel.core import Locale, UnknownLocaleError
    from babel.numbers import get_decimal_symbol, get_group_symbol

    try:
        known = Locale.parse(locale.replace("-", "_"))
    except (ValueError, UnknownLocaleError, TypeError) as error:
        raise PolicyError(f"reading.locale: no such locale {locale!r}") from error
    decimal = fold_digits(f"0{get_decimal_symbol(known, numbering_system='latn')}0")[0][1:-1]
    group = fold_digits(f"0{get_group_symbol(known, numbering_system='latn')}0")[0][1:-1]
    primary, secondary = known.decimal_formats[None].grouping
    return NumberFormat(
        locale=locale,
        decimal=decimal,
        group=group,
        whole=_whole(decimal, group, primary, secondary),
        token=_token(decimal, group),
    )


def read_number(text: str, form: NumberFormat) -> Read[Decimal] | Unreadable:
    """Read a text that is one number and nothing else, such as `1.234,56` under `de`."""
    folded, notes = fold_digits(text)
    if len(folded) > MAX_DIGITS:
        return Unreadable(code=UNREADABLE, message=f"A number of {len(folded)} characters.")
    for char, role in _ARABIC.items():
        folded = folded.replace(char, form.decimal if role == "decimal" else form.group)
    if form.whole.fullmatch(folded):
        plain = folded.replace(form.group, "").replace(form.decimal, ".")
        return Read(value=Decimal(plain), notes=notes)
    if folded.lstrip("+-").casefold() in _NON_FINITE:
        return Unreadable(code=NON_FINITE, message=f"{quote(text)} is not a finite number.")
    example = f"1{form.group}234{form.decimal}56"
    message = f"{quote(text)} is no number in locale {form.locale} (expected such as {example})."
    return Unreadable(code=UNREADABLE, message=message)


def read_json_number(value: object) -> Decimal | None:
    """Return a JSON number exactly as it is written, None for anything else; booleans are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def number_tokens(text: str, form: NumberFormat) -> dict[str, list[tuple[int, int]]]:
    """Return where runs of digits and separators stand, by their significant digits.

    Equal numbers have equal significant digits, so that only few runs need be read; `text` has
    its digits folded. A run that is no well-formed number is in it too: neither its beginning nor
    its end is a number.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for run in form.token.finditer(text):
        found.setdefault(_significant(run.group()), []).append(run.span())
    return found


def significant_digits(number: Decimal) -> str:
    """Return a number's digits without sign, point and the zeros at both ends."""
    return "".join(map(str, number.as_tuple().digits)).strip("0")


def _significant(run: str) -> str:
    if not run.isdecimal():
        run = run.replace(".", "").replace(",", "")
    if not run.isdecimal():
        run = "".join(filter(str.isdecimal, run))
    return run.strip("0")


def _whole(decimal: str, group: str, primary: int, secondary: int) -> re.Pattern[str]:
    """Compile sign, digits (plain or fully and rightly grouped) and fraction."""
    mark = re.escape(group)
    grouped = rf"[1-9][0-9]{{0,{secondary - 1}}}(?:{mark}[0-9]{{{secondary}}})*"
    grouped += rf"{mark}[0-9]{{{primary}}}"
    return re.compile(rf"[+-]?(?:0|[1-9][0-9]*|{grouped})(?:{re.escape(decimal)}[0-9]+)?")


def _token(decimal: str, group: str) -> re.Pattern[str]:
    """Compile the search for runs of digits with anything inside that may separate them."""
    run = r"[0-9]+(?:[.,'_\u066b\u066c][0-9]+)*"
    if group == " ":
        spaced = rf"[0-9]{{1,3}}(?: [0-9]{{3}})+(?:{re.escape(decimal)}[0-9]+)?(?![0-9])"
        run = f"{spaced}|{run}"
    return re.compile(run)
