"""The keys of a policy that say from where verdicts may come beside the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from sureline.adapters.policies.notification_settings import VARIABLE, Named, Variable
from sureline.adapters.policies.setting import Settings, Text, setting
from sureline.core.gate.acting import acting, check_distinct
from sureline.core.values.inbound import InboundSource
from sureline.core.values.person import person_of
from sureline.errors import InvalidInput

MOST_SOURCES = 20
MOST_PEOPLE = 200


def _people(reviewers: dict[str, str]) -> dict[str, str]:
    if not 0 < len(reviewers) <= MOST_PEOPLE:
        raise ValueError(f"expected 1 to {MOST_PEOPLE} people")
    return {there: _person(there, here) for there, here in reviewers.items()}


def _person(there: str, here: str) -> str:
    if not 0 < len(there) <= 200 or len(here) > 200 or not here.isprintable():
        raise ValueError("expected ids and names of at most 200 printable characters")
    if person_of(here) != here:
        raise ValueError(f'expected the name of a person, not "{here}"')
    try:
        return acting(here, field="reviewers")
    except InvalidInput:
        raise ValueError(f'expected the name of a person, not "{here}"') from None


class InboundSettings(Settings):
    """One program that hands on what people say elsewhere."""

    name: Named = setting(
        ..., expected="a name", meaning="What the source is called, in its address and in records."
    )
    secret_from: Variable = setting(
        ...,
        expected=VARIABLE,
        meaning="Where the secret stands with which it signs: `whsec_` and base64.",
    )
    reviewers: Annotated[dict[str, str], AfterValidator(_people)] = setting(
        ...,
        expected="a mapping of ids to names of people",
        meaning="Who may decide: their id there, and their name here, as their API key has it.",
    )
    slices: Annotated[list[Text], Field(max_length=1000)] = setting(
        [], expected="a list of slices", meaning="Only items of these slices; with none, of all."
    )

    def source(self) -> InboundSource:
        """Return it as the core's value."""
        return InboundSource(
            name=self.name,
            secret_variable=self.secret_from,
            reviewers=dict(self.reviewers),
            slices=tuple(self.slices),
        )


def inbound_fault(sources: Sequence[InboundSettings]) -> str | None:
    """Say what is wrong with sources beside each other, or None.

    A name is who somebody is: two ways of writing it would be two people.
    """
    if len(sources) > MOST_SOURCES:
        return f"expected at most {MOST_SOURCES} sources"
    names = [one.name for one in sources]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        return f"{', '.join(twice)} stands there twice"
    known: list[str] = []
    for person in sorted({name for one in sources for name in one.reviewers.values()}):
        try:
            check_distinct(person, known)
        except InvalidInput:
            return f'"{person}" is written in two ways; write it in the same way for one person'
        known.append(person)
    return None
