"""The keys of a policy that say what the deterministic checks look at."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sureline.adapters.policies import formats
from sureline.adapters.policies.setting import (
    COUNT,
    FIELD,
    FIELDS,
    TRUTH,
    Count,
    FieldPath,
    Penalty,
    Settings,
    Text,
    setting,
)

DEFAULT_PENALTIES = {
    "between": 0.3,
    "not_before": 0.4,
    "not_after": 0.4,
    "one_of": 0.2,
    "pattern": 0.2,
    "required": 0.3,
}
"""What a broken rule costs where it does not say (G5)."""


def _choice(value: object) -> object:
    if value is not None and not isinstance(value, (str, int, float)):
        raise ValueError("expected a text, a number, true, false or null")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _file_or_schema(value: object) -> object:
    if isinstance(value, (str, dict)):
        return value
    raise ValueError("expected the name of a JSON Schema file, or the schema itself")


Pattern = Annotated[str, Field(max_length=2000), AfterValidator(formats.pattern)]
Day = Annotated[str, AfterValidator(formats.day)]
Choice = Annotated[Any, BeforeValidator(_choice)]
FieldTypeWord = Literal["number", "money", "date", "text"]


class OutputSettings(Settings):
    """What shape the output has."""

    structured: bool = setting(
        True,
        expected=TRUTH,
        meaning="The output must be a JSON object. `false` for free text.",
    )
    json_schema: Annotated[Any, BeforeValidator(_file_or_schema)] | None = setting(
        None,
        expected="the name of a JSON Schema file, or the schema itself",
        meaning="A JSON Schema that the output must satisfy; a file name is relative to the "
        "policy, and the file's content is part of the policy. References must stay inside it.",
    )
    model: Text | None = setting(
        None,
        expected="the name of a pydantic model that the program registered",
        meaning="A pydantic model instead of, or beside, the schema. Its definition is code: "
        "rename it when it changes, or certificates will not notice.",
    )


class RuleSettings(Settings):
    """A rule about one field; exactly one condition."""

    field: FieldPath = setting(..., expected=FIELD, meaning="The field that the rule is about.")
    type: FieldTypeWord | None = setting(
        None,
        expected="number, money, date or text",
        meaning="How the field's value is read; by default what the condition needs.",
    )
    between: Annotated[list[float | None], Field(min_length=2, max_length=2)] | None = setting(
        None,
        expected="two numbers such as [1, 1000], null for an open end",
        meaning="The value lies between the two, ends included.",
    )
    one_of: Annotated[list[Choice], Field(min_length=1, max_length=10_000)] | None = setting(
        None,
        expected="a list of values",
        meaning="The value is one of these.",
    )
    not_before: Day | None = setting(
        None, expected="today or a date as YYYY-MM-DD", meaning="The date is this day or later."
    )
    not_after: Day | None = setting(
        None, expected="today or a date as YYYY-MM-DD", meaning="The date is this day or earlier."
    )
    pattern: Pattern | None = setting(
        None,
        expected="a regular expression",
        meaning="A regular expression that matches the whole text (RE2 syntax).",
    )
    required: bool = setting(False, expected=TRUTH, meaning="The field is there and not empty.")
    penalty: Penalty | None = setting(
        None,
        expected="a number from 0 to 1, at most three decimals",
        meaning="What breaking the rule takes off the verification score. By default 0.3 for "
        "`between` and `required`, 0.4 for dates, 0.2 for `one_of` and `pattern`.",
    )
    fatal: bool = setting(
        False,
        expected=TRUTH,
        meaning="Breaking the rule makes the verification score 0 and the output is sent back.",
    )

    @property
    def condition(self) -> str:
        """Name the condition that is set."""
        return self.conditions[0]

    @property
    def conditions(self) -> list[str]:
        """Name all conditions that are set."""
        return [name for name in DEFAULT_PENALTIES if getattr(self, name) not in (None, False)]

    @model_validator(mode="after")
    def _one_condition(self) -> RuleSettings:
        if len(self.conditions) != 1:
            words = ", ".join(DEFAULT_PENALTIES)
            count = " and ".join(self.conditions) or "none"
            raise ValueError(f"expected exactly one condition of {words}; found {count}")
        ends = self.between
        if ends is not None:
            _check_ends(ends)
        allowed = _TYPES_OF.get(self.condition)
        if self.type is not None and allowed is not None and self.type not in allowed:
            raise ValueError(
                f"{self.condition} needs type {' or '.join(allowed)}, found {self.type}"
            )
        return self


_TYPES_OF = {
    "between": ("number", "money"),
    "not_before": ("date",),
    "not_after": ("date",),
    "pattern": ("text",),
}


def _check_ends(ends: list[float | None]) -> None:
    low, high = ends
    if low is None and high is None:
        raise ValueError("between needs at least one end")
    if low is not None and high is not None and low > high:
        raise ValueError(f"between starts at {low} above its end {high}")


class ProseSettings(Settings):
    """Limits on a text."""

    field: FieldPath | None = setting(
        None, expected=FIELD, meaning="The field with the text; without it the whole output."
    )
    min_sentences: Count | None = setting(None, expected=COUNT, meaning="Fewest sentences.")
    max_sentences: Count | None = setting(None, expected=COUNT, meaning="Most sentences.")
    min_length: Count | None = setting(None, expected=COUNT, meaning="Fewest characters.")
    max_length: Count | None = setting(None, expected=COUNT, meaning="Most characters.")
    keywords: list[Text] = setting([], expected="a list of texts", meaning="Words that must occur.")
    keywords_from_task: bool = setting(
        False, expected=TRUTH, meaning="The task's own key words must occur."
    )
    forbidden_patterns: list[Pattern] = setting(
        [], expected="a list of regular expressions", meaning="What must match nowhere."
    )
    forbidden_phrases: list[Text] = setting(
        [], expected="a list of texts", meaning="What must not occur."
    )
    forbidden_hosts: list[Text] = setting(
        [], expected="a list of host names", meaning="Hosts that no link may lead to."
    )
    allowed_hosts: list[Text] | None = setting(
        None, expected="a list of host names", meaning="The only hosts that links may lead to."
    )
    penalty: Penalty = setting(
        0.2,
        expected="a number from 0 to 1, at most three decimals",
        meaning="What each violation takes off the verification score.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> ProseSettings:
        for name in ("sentences", "length"):
            low, high = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if low is not None and high is not None and low > high:
                raise ValueError(f"min_{name} {low} is above max_{name} {high}")
        return self


class GroundingSettings(Settings):
    """Which fields must be findable in the source."""

    fields: Annotated[list[FieldPath], Field(min_length=1)] = setting(
        ..., expected=FIELDS, meaning="The fields whose values must be findable in the source."
    )
    types: dict[str, FieldTypeWord] = setting(
        {},
        expected="a mapping of field to number, money, date or text",
        meaning="How a field is compared; without it, as text.",
    )
    penalty: Penalty = setting(
        0.3,
        expected="a number from 0 to 1, at most three decimals",
        meaning="What each field that is not found takes off the verification score.",
    )

    @model_validator(mode="after")
    def _typed_fields_exist(self) -> GroundingSettings:
        strange = sorted(set(self.types) - set(self.fields))
        if strange:
            raise ValueError(f"types names {', '.join(strange)}, which is not in fields")
        return self


class ReadingSettings(Settings):
    """How numbers, money and dates in texts are read."""

    locale: Annotated[str, AfterValidator(formats.locale)] = setting(
        "en",
        expected="a locale such as en, de or ja_JP",
        meaning="Decides about decimal and thousands separators and the names of months.",
    )
    date_order: Literal["YMD", "DMY", "MDY"] | None = setting(
        None,
        expected="YMD, DMY or MDY",
        meaning="The order of local dates such as 03/04/26; without it they are reported as "
        "ambiguous, never guessed. ISO dates are always year-month-day.",
    )
    timezone: Annotated[str, AfterValidator(formats.timezone)] = setting(
        "UTC",
        expected="a time zone such as Europe/Berlin",
        meaning="Where `today` is.",
    )
    japanese_era: bool = setting(False, expected=TRUTH, meaning="Also read dates of Japanese eras.")
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] | None = setting(
        None,
        expected="a currency code such as EUR",
        meaning="The currency that money must be in, where it states one.",
    )
