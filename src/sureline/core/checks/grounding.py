"""Check that fields are findable in the source: presence, not meaning (G7).

A value is looked for exactly, then with its presentation folded, then by value where it is a
number or a date; always on token boundaries. Only sources that a trusted caller delivered count:
what stands only in a source that the agent claims costs the same as what stands nowhere, so that
claiming a source never raises a score (G34).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice

from sureline.core.checks.dates import read_date
from sureline.core.checks.folding import fold_presentation
from sureline.core.checks.money import read_money
from sureline.core.checks.numbers import read_json_number
from sureline.core.checks.paths import ABSENT, Path, describe, parse_path, walk
from sureline.core.checks.places import Place, SearchedText
from sureline.core.checks.reading import Read, Unreadable, quote
from sureline.core.checks.result import CheckResult, cut
from sureline.core.checks.scripts import is_invisible, mixed_script_words
from sureline.core.checks.source_index import SourceIndex
from sureline.core.checks.tokens import contains_token
from sureline.core.checks.values import Formats, read_value
from sureline.core.values.checks import FieldType, GroundingRules
from sureline.core.values.finding import Finding
from sureline.core.values.proposal import SourceText
from sureline.errors import PolicyError

CLAIMED = "claimed_source"
"""The code of a value that stands only in a source that nobody trusted delivered."""
MAX_LENGTH = 2000
"""Longer values are not looked for and count as not found; bounds the time."""
MAX_VALUES = 500
"""Of one field path so many values are looked for; the others count as not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingCheck:
    """Compiled grounding rules: one path and stated type per field."""

    fields: tuple[tuple[Path, FieldType | None], ...]
    penalty: int
    formats: Formats

    def check(self, output: object, sources: Sequence[SourceText]) -> tuple[CheckResult, ...]:
        """Return one result per field of the policy, in its order."""
        trusted = [SourceIndex(one.text, self.formats) for one in sources if one.trusted]
        claimed = [SourceIndex(one.text, self.formats) for one in sources if not one.trusted]
        search = _Search(formats=self.formats, trusted=trusted, claimed=claimed)
        return tuple(self._check_field(output, path, kind, search) for path, kind in self.fields)

    def places(self, output: object, sources: Sequence[SourceText]) -> tuple[Place, ...]:
        """Return where the fields' values stand in the sources, trusted or not; see `places`."""
        indexes = [SourceIndex(one.text, self.formats) for one in sources]
        texts = [SearchedText(index, self.formats.date) for index in indexes]
        search = _Search(formats=self.formats, trusted=indexes, claimed=())
        return tuple(
            Place(source=number, start=start, end=end, field=field)
            for path, kind in self.fields
            for field, value in islice(_scalars(output, path), MAX_VALUES)
            for number, source in enumerate(texts)
            for start, end in search.places(source, value, kind)
        )

    def _check_field(
        self, output: object, path: Path, kind: FieldType | None, search: _Search
    ) -> CheckResult:
        failures: list[Finding] = []
        notes: list[Finding] = []
        found = 0
        for number, (field, value) in enumerate(_scalars(output, path)):
            if number >= MAX_VALUES:
                fault: tuple[str, str] | None = (
                    "too_many_values",
                    f"Only {MAX_VALUES} values are looked for.",
                )
            else:
                fault = search.fault(value, kind)
                notes.extend(search.notes(field, value, missing=fault is not None))
            if fault is None:
                found += 1
            else:
                failures.append(
                    Finding(code=fault[0], message=fault[1], field=field, penalty=self.penalty)
                )
        findings = (*cut(failures), *cut(notes))
        return CheckResult(findings=findings, passed=not failures, presence=True, present=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """Looks for values in the sources of one proposal."""

    formats: Formats
    trusted: Sequence[SourceIndex]
    claimed: Sequence[SourceIndex]

    def fault(self, value: object, kind: FieldType | None) -> tuple[str, str] | None:
        """Return code and message of why a value is not grounded, or None if it is."""
        if value is ABSENT or value is None or value == "":
            return "missing_field", "The field is missing."
        if not isinstance(value, str) and read_json_number(value) is None:
            return "wrong_type", f"Expected text or a number, got {describe(value)}."
        if not self.trusted and not self.claimed:
            return "no_source", "There is no source to find the value in."
        text = value if isinstance(value, str) else str(value)
        if len(text) > MAX_LENGTH:
            return "too_long", f"Longer than {MAX_LENGTH} characters."
        read = self._read(value, kind)
        if isinstance(read, Unreadable):
            return read.code, read.message
        if any(_is_in(source, text, read, kind) for source in self.trusted):
            return None
        if any(_is_in(source, text, read, kind) for source in self.claimed):
            return CLAIMED, f"{quote(text)} is only in a source that the agent claims."
        return "not_grounded", f"{quote(text)} is not in the source."

    def _read(self, value: object, kind: FieldType | None) -> Decimal | date | Unreadable | None:
        """Return the value to compare by, None where only the text counts."""
        if kind is FieldType.TEXT:
            return None
        if kind is not None:
            read = read_value(value, kind, self.formats)
            if isinstance(read, Unreadable):
                return read
            return read.value if isinstance(read.value, (Decimal, date)) else None
        return read_json_number(value) if not isinstance(value, str) else self._guess_free(value)

    def _guess_free(self, text: str) -> Decimal | date | None:
        """Read a text as a date or a formatted number; bare digits may be an id or a year."""
        as_date = read_date(text, self.formats.date)
        if isinstance(as_date, Read):
            return as_date.value
        if text.isdecimal():
            return None
        as_money = read_money(text, self.formats.money)
        return as_money.value if isinstance(as_money, Read) else None

    def places(
        self, source: SearchedText, value: object, kind: FieldType | None
    ) -> Sequence[tuple[int, int]]:
        """Return where a value that can be read stands in a source."""
        if not isinstance(value, str) and read_json_number(value) is None:
            return ()
        text = value if isinstance(value, str) else str(value)
        if not 0 < len(text) <= MAX_LENGTH:
            return ()
        read = self._read(value, kind)
        return () if isinstance(read, Unreadable) else source.places(text, read, kind)

    def notes(self, field: str | None, value: object, *, missing: bool) -> Iterator[Finding]:
        """Report what deceives the eye; it is never folded away."""
        if not isinstance(value, str):
            return
        for word in mixed_script_words(value)[:3]:
            message = f"{quote(word)} mixes letters of scripts that look alike."
            yield Finding(code="mixed_script", message=message, field=field)
        if any(map(is_invisible, value)):
            shown = value.encode("unicode_escape").decode("ascii")
            message = f"The value holds invisible characters: {quote(shown)}."
            yield Finding(code="invisible_character", message=message, field=field)
        elif missing and len(value) <= MAX_LENGTH and self._is_hidden(fold_presentation(value)):
            message = f"The source has {quote(value)} only with invisible characters inside."
            yield Finding(code="invisible_character", message=message, field=field)

    def _is_hidden(self, folded: str) -> bool:
        return any(
            source.visible is not source.folded and contains_token(source.visible, folded)
            for source in self.trusted
        )


def compile_grounding(rules: GroundingRules, formats: Formats) -> GroundingCheck:
    """Compile grounding rules. Raises PolicyError for a bad path or a type of no field."""
    unknown = set(rules.types) - set(rules.fields)
    if unknown:
        raise PolicyError(f"grounding.types: {min(unknown)} is not among the fields")
    if not rules.fields:
        raise PolicyError("grounding.fields: expected at least one field")
    if rules.penalty < 0:
        raise PolicyError(f"grounding.penalty: expected 0 or more, got {rules.penalty}")
    fields = tuple((parse_path(field), rules.types.get(field)) for field in rules.fields)
    return GroundingCheck(fields=fields, penalty=rules.penalty, formats=formats)


def _is_in(
    source: SourceIndex, text: str, read: Decimal | date | None, kind: FieldType | None
) -> bool:
    """Tell whether a value stands in a source; numbers only as whole numbers (S07)."""
    if isinstance(read, Decimal):
        return source.has_number(read)
    if isinstance(read, date) and read in source.dates:
        return True
    if kind is FieldType.DATE:
        return False
    return contains_token(source.text, text) or contains_token(
        source.folded, fold_presentation(text)
    )


def _scalars(output: object, path: Path) -> Iterator[tuple[str | None, object]]:
    """Yield the values to look for; a list of values is looked for value by value."""
    for field, value in walk(output, path):
        if isinstance(value, list) and value:
            for index, item in enumerate(value):
                yield f"{field}[{index}]", item
        else:
            yield field, value
