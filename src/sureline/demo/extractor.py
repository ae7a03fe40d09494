"""A deliberately simple rule extractor: the "agent" of the demonstration.

It sees the receipt's text and nothing else. Its rules are those a hurried person would write,
so its errors are real ones: it takes the first line for the shop, every `$` for US dollars, the
last line that says "total" for the total, and repairs letters that look like digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

_BANNERS = ("customer copy", "receipt", "invoice")
_TOTAL = re.compile(r"\btotal\b|summe|合計", re.IGNORECASE)
_NOT_TOTAL = re.compile(r"sub|sous|zwischen", re.IGNORECASE)
_TAX = re.compile(r"\b(?:vat|tax|mwst|tva)\b|消費税", re.IGNORECASE)
_REPAIR = str.maketrans("OolISB", "001158")
_AMOUNT = re.compile(r"(?<![\w.,:])[$£€¥]?([\dOolISB][\dOolISB.,\u00a0]*)\s?[$£€¥]?\s*$")
_CURRENCIES = {"£": "GBP", "$": "USD", "€": "EUR", "¥": "JPY"}
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_KANJI = re.compile(r"(令和)?(\d{1,4})年(\d{1,2})月(\d{1,2})日")
_NAMED = re.compile(r"(?:(\d{1,2}) )?([A-Z][a-z]{2})(?: (\d{1,2}),)? (\d{4})")
_LOCAL = re.compile(r"([\dOolISB]{1,2})[./]([\dOolISB]{1,2})[./]([\dOolISB]{4}|[\dOolISB]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What the extractor found and how sure it says it is (in [0, 1])."""

    output: dict[str, Any]
    self_report: float


def extract(text: str) -> Extraction:
    """Read vendor, date, total, currency and tax; a field that is not found is left out."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    currency = _currency(text)
    total, guessed = _total(lines)
    fields = {
        "vendor": _vendor(lines),
        "date": _date(text, month_first=currency == "USD"),
        "total": total,
        "currency": currency,
        "tax": _tax(lines),
    }
    output = {name: value for name, value in fields.items() if value is not None}
    missing = len(fields) - len(output)
    return Extraction(output=output, self_report=max(0.5, 0.97 - 0.1 * guessed - 0.1 * missing))


def _vendor(lines: Sequence[str]) -> str | None:
    """Take the first line that is no banner."""
    return next((line for line in lines if line.lower() not in _BANNERS), None)


def _currency(text: str) -> str | None:
    """Go by the first currency sign."""
    return next((code for sign, code in _CURRENCIES.items() if sign in text), None)


def _total(lines: Sequence[str]) -> tuple[float | None, bool]:
    """Take the last line that says total; failing that, the largest amount. True if guessed."""
    named = [_amount(line) for line in lines if _TOTAL.search(line) and not _NOT_TOTAL.search(line)]
    found = _present(named)
    if found:
        return found[-1], False
    amounts = _present(_amount(line) for line in lines)
    return (max(amounts), True) if amounts else (None, True)


def _tax(lines: Sequence[str]) -> float:
    """Take the first tax line; no line, no tax."""
    found = _present(_amount(line) for line in lines if _TAX.search(line))
    return found[0] if found else 0.0


def _present(amounts: Iterable[float | None]) -> list[float]:
    """Drop what could not be read."""
    return [amount for amount in amounts if amount is not None]


def _amount(line: str) -> float | None:
    """Read the amount at a line's end, whatever the decimal mark is."""
    match = _AMOUNT.search(line)
    if match is None:
        return None
    text = match[1].translate(_REPAIR).replace("\u00a0", "")
    if len(text) > 3 and text[-3] in ".,":
        whole, cents = text[:-3], text[-2:]
    else:
        whole, cents = text, "0"
    whole = whole.replace(",", "").replace(".", "")
    return float(f"{whole}.{cents}") if whole.isdigit() and cents.isdigit() else None


def _date(text: str, *, month_first: bool) -> str | None:
    """Read the first date, and repair letters that look like digits where no month is named."""
    for read in (_iso_date, _kanji_date, _named_date):
        parts = read(text)
        if parts:
            return _checked(*parts)
    match = _LOCAL.search(text)
    if match is None:
        return None
    first, second, year = (int(part.translate(_REPAIR)) for part in match.groups())
    month, day = (first, second) if month_first else (second, first)
    return _checked(year if year > 99 else 2000 + year, month, day)


def _iso_date(text: str) -> tuple[int, int, int] | None:
    """Read 2026-03-05."""
    match = _ISO.search(text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _kanji_date(text: str) -> tuple[int, int, int] | None:
    """Read 2026年3月5日, and Reiwa years."""
    match = _KANJI.search(text)
    if match is None:
        return None
    return int(match[2]) + (2018 if match[1] else 0), int(match[3]), int(match[4])


def _named_date(text: str) -> tuple[int, int, int] | None:
    """Read 5 Mar 2026 and Mar 5, 2026."""
    match = _NAMED.search(text)
    if match is None or match[2].lower() not in _MONTHS or not (match[1] or match[3]):
        return None
    return int(match[4]), _MONTHS[match[2].lower()], int(match[1] or match[3])


def _checked(year: int, month: int, day: int) -> str | None:
    """Write the date as ISO 8601, or nothing if there is no such day."""
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
