"""What the deterministic checks of a slice are to look at (G5-G7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FieldType(StrEnum):
    """How a field's value is read before its rules are applied."""

    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How numbers, money and dates in texts are read; never taken from the process (S03).

    `locale` is a CLDR name such as `de` or `ja_JP`. `date_order` is `YMD`, `DMY` or `MDY` and
    states the order of local dates; None means that ambiguous dates are reported, not guessed.
    `timezone` is an IANA name; "today" in rules is the day there. `japanese_era` admits dates
    such as Reiwa 8.
    """

    locale: str = "en"
    date_order: str | None = None
    timezone: str = "UTC"
    japanese_era: bool = False
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """A rule about one field; `penalty` is in points of a thousand, `fatal` makes the score 0.

    Exactly one condition is set: `between` (two numbers, ends included, None for open),
    `one_of`, `not_before` / `not_after` (an ISO date or `today`), `pattern` (linear-time regular
    expression that must match the whole text), `required`.
    """

    field: str
    type: FieldType | None = None
    between: tuple[float | None, float | None] | None = None
    one_of: tuple[Any, ...] | None = None
    not_before: str | None = None
    not_after: str | None = None
    pattern: str | None = None
    required: bool = False
    penalty: int = 0
    fatal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProseRules:
    """Limits on a text (G6); `field` is a dotted path, None for the whole output.

    Each violation costs `penalty` points of a thousand.
    """

    field: str | None = None
    min_sentences: int | None = None
    max_sentences: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    keywords: tuple[str, ...] = ()
    keywords_from_task: bool = False
    forbidden_patterns: tuple[str, ...] = ()
    forbidden_phrases: tuple[str, ...] = ()
    forbidden_hosts: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] | None = None
    penalty: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingRules:
    """Which fields must be findable in the source (G7).

    Each field that is not costs `penalty` points of a thousand. `types` states how a field is
    compared (as number, money, date or text); without it, text.
    """

    fields: tuple[str, ...] = ()
    types: Mapping[str, FieldType] = field(default_factory=dict)
    penalty: int = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksPolicy:
    """All deterministic checks of one slice.

    `structured` says that the output must be a JSON object. `json_schema` is the schema itself
    (draft 2020-12 unless it says otherwise), not a path; `model` names a pydantic model that the
    program registered. `score` is `penalties` (1 minus the penalties) or `fraction` (share of
    the checks that passed).
    """

    structured: bool = True
    json_schema: Mapping[str, Any] | None = None
    model: str | None = None
    rules: tuple[FieldRule, ...] = ()
    prose: tuple[ProseRules, ...] = ()
    grounding: GroundingRules | None = None
    reading: Reading = field(default_factory=Reading)
    score: str = "penalties"

    @property
    def any(self) -> bool:
        """Tell whether anything is checked at all."""
        return bool(
            self.structured
            or self.json_schema is not None
            or self.model
            or self.rules
            or self.prose
            or self.grounding
        )
