"""Tables as CSV (RFC 4180) that a spreadsheet opens without running anything in it (R13).

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, whoever wrote it; there is
no quoting that it heeds. Such a text gets an apostrophe in front, which marks it as a text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from sureline.core.hidden_text import LINES, spelled

_FORMULA = frozenset("=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}") | frozenset(
    "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}\N{MINUS SIGN}|%"
)
"""What a formula, or a command of old spreadsheets (DDE), may begin with; also in full width."""
_FIRST = frozenset("\t\n")
"""Some programs cut these off before they look at what comes next."""


def csv_cell(value: Any) -> str:
    """Return a value as a cell: hidden characters are spelled out, and no text is a formula.

    Numbers stay numbers, a minus sign included; None is an empty cell.
    """
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return str(value)
    text = spelled(str(value), keep=LINES)
    begins = text.lstrip()[:1]
    risky = begins in _FORMULA or text[:1] in _FIRST
    return f"'{text}" if risky else text


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV, its header first; every cell is quoted, lines end with CR LF."""
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([csv_cell(one) for one in row] for row in rows)
    return written.getvalue()
