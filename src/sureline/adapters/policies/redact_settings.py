"""The keys of a policy that say what is neither kept nor shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies import formats
from sureline.adapters.policies.setting import FIELDS, FieldPath, Settings, setting
from sureline.core.checks.patterns import compile_pattern
from sureline.core.redaction import FIELD, UNREADABLE
from sureline.core.redaction_forms import FORMS
from sureline.core.values.redaction import RedactionPolicy

MOST = 50
FORM_NAMES = ", ".join(sorted(FORMS))


def _known(name: str) -> str:
    if name not in FORMS:
        raise ValueError(f'expected one of {FORM_NAMES}, found "{name}"')
    return name


def _not_empty(pattern: str) -> str:
    if compile_pattern(formats.pattern(pattern)).search("") is not None:
        raise ValueError("a pattern that an empty text fits would fit everywhere")
    return pattern


Form = Annotated[str, AfterValidator(_known)]


class PatternSettings(Settings):
    """A form of your own."""

    name: Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]{0,39}\z")] = setting(
        ...,
        expected="a name of small letters, digits and _",
        meaning="What stands in its place: `[redacted:NAME]`.",
    )
    pattern: Annotated[str, AfterValidator(_not_empty), Field(max_length=1000)] = setting(
        ...,
        expected="a regular expression (RE2)",
        meaning="What is replaced, as a reader sees it: full-width letters and digits of other "
        "scripts are those of ASCII, dashes are `-`, and what is invisible is not there.",
    )


class RedactSettings(Settings):
    """What is replaced before anything is stored or shown."""

    forms: Annotated[list[Form], Field(max_length=MOST)] = setting(
        [],
        expected=f"a list of {FORM_NAMES}",
        meaning="Forms that are replaced wherever they stand: mail addresses, IBANs and numbers "
        "of payment cards, the latter two by their check digits.",
    )
    patterns: Annotated[list[PatternSettings], Field(max_length=MOST)] = setting(
        [],
        expected="a list of mappings with name and pattern",
        meaning="Forms of your own.",
    )
    fields: Annotated[list[FieldPath], Field(max_length=MOST)] = setting(
        [],
        expected=FIELDS,
        meaning="Fields of the output that are replaced whatever they hold. The checks see what "
        "came; nothing and nobody else does.",
    )
    hide_from_models: Annotated[list[FieldPath], Field(max_length=MOST)] = setting(
        [],
        expected=FIELDS,
        meaning="Fields that are stored and that people see, but no model: no judge, no "
        "self-evaluation, no plugged-in signal.",
    )

    @model_validator(mode="after")
    def _names_are_distinct(self) -> RedactSettings:
        names = [*self.forms, *(one.name for one in self.patterns), FIELD, UNREADABLE]
        twice = next(_repeated(names), None)
        if twice is not None:
            raise ValueError(f'the name "{twice}" stands for two things')
        return self

    def redaction(self) -> RedactionPolicy:
        """Return them as the core's value."""
        return RedactionPolicy(
            forms=tuple(self.forms),
            patterns=tuple((one.name, one.pattern) for one in self.patterns),
            fields=tuple(self.fields),
            hide_from_models=tuple(self.hide_from_models),
        )


def _repeated(names: list[str]) -> Iterator[str]:
    return (one for one in names if names.count(one) > 1)
