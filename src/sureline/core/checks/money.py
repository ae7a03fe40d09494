"""Read amounts of money: a number with at most one currency, before or after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from sureline.core.checks.folding import fold_digits
from sureline.core.checks.numbers import NumberFormat, number_format, read_number
from sureline.core.checks.reading import (
    UNREADABLE,
    WRONG_CURRENCY,
    Read,
    Unreadable,
    quote,
)
from sureline.core.values.checks import Reading
from sureline.errors import PolicyError

# Signs that CLDR has only in the locale of their country, and what they may stand for.
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "$": ("USD", "AUD", "CAD", "HKD", "MXN", "NZD", "SGD", "TWD"),
    "US$": ("USD",),
    "¥": ("JPY", "CNY"),
    "円": ("JPY",),
    "元": ("CNY",),
    "£": ("GBP",),
    "€": ("EUR",),
    "₹": ("INR",),
    "₩": ("KRW",),
    "Rs": ("INR", "PKR", "LKR"),
    "RM": ("MYR",),
    "S$": ("SGD",),
    "R$": ("BRL",),
    "Fr.": ("CHF",),
    "kr": ("SEK", "NOK", "DKK"),
    "zł": ("PLN",),
    "Kč": ("CZK",),
    "₺": ("TRY",),
    "฿": ("THB",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyFormat:
    """How a locale writes amounts; `signs` maps each sign or code to its possible currencies."""

    number: NumberFormat
    signs: Mapping[str, frozenset[str]]
    longest: int
    currency: str | None


@lru_cache(maxsize=64)
def money_format(reading: Reading) -> MoneyFormat:
    """Return the format of amounts. Raises PolicyError for an unknown locale or currency."""
    from babel.core import Locale
    from babel.numbers import list_currencies

    number = number_format(reading.locale)
    codes = list_currencies()
    if reading.currency is not None and reading.currency not in codes:
        raise PolicyError(f"reading.currency: no such ISO 4217 code {reading.currency!r}")
    signs: dict[str, set[str]] = {code: {code} for code in codes}
    symbols = Locale.parse(reading.locale.replace("-", "_")).currency_symbols
    for code, sign in symbols.items():
        signs.setdefault(fold_digits(sign)[0], set()).add(code)
    for sign, meanings in _SIGNS.items():
        signs.setdefault(sign, set()).update(meanings)
    return MoneyFormat(
        number=number,
        signs={sign: frozenset(meanings) for sign, meanings in signs.items()},
        longest=max(map(len, signs)),
        currency=reading.currency,
    )


def read_money(text: str, form: MoneyFormat) -> Read[Decimal] | Unreadable:
    """Read a text that is one amount and nothing else, such as `¥12,000` or `1.234,56 €`."""
    folded, notes = fold_digits(text)
    sign = folded[0] if folded[:1] in ("-", "+") else ""
    rest = folded[len(sign) :].strip()
    before = currency_at_start(rest, form)
    rest = rest[len(before) :].lstrip()
    after = currency_at_end(rest, form)
    rest = rest[: len(rest) - len(after)].rstrip()
    if before and after:
        return Unreadable(code=UNREADABLE, message=f"{quote(text)} names two currencies.")
    if sign and rest[:1] in ("-", "+"):
        return Unreadable(code=UNREADABLE, message=f"{quote(text)} has two signs.")
    read = read_number(sign + rest, form.number)
    if isinstance(read, Unreadable):
        return Unreadable(code=read.code, message=read.message)
    return _in_currency(text, Read(value=read.value, notes=notes), before or after, form)


def currency_at_start(text: str, form: MoneyFormat) -> str:
    """Return the longest currency sign or code that the text begins with, or an empty text."""
    lengths = range(min(form.longest, len(text)), 0, -1)
    return next((text[:size] for size in lengths if text[:size] in form.signs), "")


def currency_at_end(text: str, form: MoneyFormat) -> str:
    """Return the longest currency sign or code that the text ends with, or an empty text."""
    lengths = range(min(form.longest, len(text)), 0, -1)
    return next((text[-size:] for size in lengths if text[-size:] in form.signs), "")


def _in_currency(
    text: str, read: Read[Decimal], sign: str, form: MoneyFormat
) -> Read[Decimal] | Unreadable:
    meanings = form.signs.get(sign, frozenset())
    if not sign:
        return read
    if form.currency is not None and form.currency not in meanings:
        message = f"{quote(text)} is not in {form.currency}."
        return Unreadable(code=WRONG_CURRENCY, message=message)
    known = form.currency or (next(iter(meanings)) if len(meanings) == 1 else None)
    return Read(value=read.value, notes=read.notes, currency=known)
