"""What can be found in a source: its text, its normalised text, its numbers and its dates."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cached_property

from sureline.core.checks.dates import find_dates
from sureline.core.checks.folding import fold_digits, fold_presentation
from sureline.core.checks.money import MoneyFormat, currency_at_end, currency_at_start
from sureline.core.checks.numbers import number_tokens, read_number, significant_digits
from sureline.core.checks.reading import Unreadable
from sureline.core.checks.scripts import without_invisible
from sureline.core.checks.tokens import is_unspaced, is_word
from sureline.core.checks.values import Formats

_HUNDRED = Decimal(100)
# Most numbers stand between these, and then nothing else need be looked at.
_PLAIN_EDGES = frozenset(' \t\n\r()[]=;|"')


class SourceIndex:
    """One source text; each view of it is made when it is first needed."""

    def __init__(self, text: str, formats: Formats) -> None:
        self.text = text
        self._formats = formats
        self._values: dict[str, frozenset[Decimal | None]] = {}

    @cached_property
    def folded(self) -> str:
        """The text with its presentation folded."""
        return fold_presentation(self.text)

    @cached_property
    def visible(self) -> str:
        """The folded text without invisible characters; only to explain why something is not."""
        return without_invisible(self.folded)

    @cached_property
    def _plain(self) -> str:
        return fold_digits(self.text)[0]

    @cached_property
    def dates(self) -> frozenset[date]:
        """The dates that read without doubt."""
        return frozenset(find_dates(self._plain, self._formats.date))

    def has_number(self, number: Decimal) -> bool:
        """Tell whether a number of this value stands as a token of its own; 10% is 0.1."""
        digits = significant_digits(number)
        values = self._values.get(digits)
        if values is None:
            values = frozenset(map(self._value_at, self._tokens.get(digits, ())))
            self._values[digits] = values
        return number in values

    def number_spans(self, number: Decimal) -> list[tuple[int, int]]:
        """Return where in the text numbers of this value stand."""
        before = len(self.text) - len(self.text.lstrip())
        return [
            (start + before, end + before)
            for start, end in self._tokens.get(significant_digits(number), ())
            if self._value_at((start, end)) == number
        ]

    @cached_property
    def _tokens(self) -> dict[str, list[tuple[int, int]]]:
        return number_tokens(self._plain, self._formats.number)

    def _value_at(self, span: tuple[int, int]) -> Decimal | None:
        """Return the value of the run of digits at `span`, None if it is no number of its own."""
        text, form = self._plain, self._formats
        start, end = span
        read = read_number(text[start:end], form.number)
        sign, start_of_sign = _sign(text, start)
        if (
            isinstance(read, Unreadable)
            or not _starts_token(text, start_of_sign, form.money)
            or not _ends_token(text, end, form.money)
            or (form.number.group != " " and _in_spaced_group(text, start, end))
        ):
            return None
        return sign * (read.value / _HUNDRED if text[end : end + 1] == "%" else read.value)


def _sign(text: str, start: int) -> tuple[int, int]:
    """Return the sign before a number and where it begins; a hyphen in an id is none."""
    if start and text[start - 1] in "+-" and not (start > 1 and is_word(text[start - 2])):
        return (-1 if text[start - 1] == "-" else 1), start - 1
    return 1, start


def _starts_token(text: str, start: int, form: MoneyFormat) -> bool:
    """Tell whether a number may begin here: after a currency or a label, not inside an id."""
    if start == 0:
        return True
    before, earlier = text[start - 1], text[start - 2 : start - 1]
    if before in _PLAIN_EDGES:
        return True
    sign = currency_at_end(text[max(0, start - form.longest) : start], form)
    if sign:
        edge = text[start - len(sign) - 1 : start - len(sign)]
        return not is_word(edge) or is_unspaced(edge) or not sign[0].isalnum()
    if before == ":":
        return not earlier.isdigit()
    if before in "-+./@&\\":
        return not is_word(earlier)
    if before in "#_":
        return False
    return not is_word(before) or is_unspaced(before)


def _ends_token(text: str, end: int, form: MoneyFormat) -> bool:
    """Tell whether a number may end here: before a currency or punctuation, not inside an id."""
    after, later = text[end : end + 1], text[end + 1 : end + 2]
    if not after or after in _PLAIN_EDGES:
        return True
    sign = currency_at_start(text[end : end + form.longest], form)
    if sign:
        edge = text[end + len(sign) : end + len(sign) + 1]
        return not is_word(edge) or is_unspaced(edge) or not sign[-1].isalnum()
    if after and after in "-+./:@&\\#_,'":
        return not is_word(later)
    return after != "‰" and (not is_word(after) or is_unspaced(after))


def _in_spaced_group(text: str, start: int, end: int) -> bool:
    """Tell whether this may be a part of 7 412.90, which this locale does not read as one."""
    head = len(text[start : start + 4]) - len(text[start : start + 4].lstrip("0123456789"))
    if (
        head == 3
        and text[start - 1 : start] == " "
        and text[max(0, start - 2) : start - 1].isdigit()
    ):
        return True
    follows = text[end : end + 5]
    is_head = end - start <= 3 and text[start:end].isdigit()
    return (
        is_head
        and follows[:1] == " "
        and follows[1:4].isdigit()
        and (len(follows[1:4]) == 3 and not follows[4:5].isdigit())
    )
