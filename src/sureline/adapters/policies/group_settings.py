"""The keys of a policy that say who works on what, when, and who is called otherwise (R15)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies import formats
from sureline.adapters.policies.opening_hours import (
    DAYS_WORD,
    SPANS_WORD,
    days_text,
    spans_text,
    windows_of,
)
from sureline.adapters.policies.setting import Settings, Text, setting
from sureline.core.values.groups import OnCall
from sureline.core.values.hours import WorkingHours

Days = Annotated[str, AfterValidator(days_text), Field(max_length=100)]
Spans = Annotated[str, AfterValidator(spans_text), Field(max_length=200)]


class HoursSettings(Settings):
    """When a group works."""

    time_zone: Annotated[str, AfterValidator(formats.timezone)] = setting(
        ...,
        expected="a time zone such as Europe/Berlin",
        meaning="Whose clock is meant; summer time is kept.",
    )
    week: Annotated[dict[Days, Spans], Field(min_length=1, max_length=50)] = setting(
        ...,
        expected=f"a mapping of {DAYS_WORD} to {SPANS_WORD}",
        meaning="When the group works. `22:00-06:00+1` ends on the day after.",
    )

    def hours(self) -> WorkingHours:
        """Return them as the core's value."""
        return WorkingHours(time_zone=self.time_zone, windows=windows_of(self.week))


class OnCallSettings(Settings):
    """Whom an item goes to that nobody decided in time."""

    person: Text | None = setting(
        None,
        expected="the name of a reviewer",
        meaning="Is offered what went a step up, whatever group they are in.",
    )
    channel: Text | None = setting(
        None,
        expected="a channel of notifications",
        meaning="Is told of each step up and of expiry, at any hour, whatever else it is told.",
    )

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if self.person is None and self.channel is None:
            raise ValueError("on_call needs a person, a channel, or both")
        return self


class GroupSettings(Settings):
    """One group of reviewers."""

    members: Annotated[list[Text], Field(max_length=500)] = setting(
        [],
        expected="a list of reviewers' names",
        meaning="Who works on it, by the names of their API keys or `--by`. Without members it is "
        "for everybody.",
    )
    slices: Annotated[list[Text], Field(max_length=500)] = setting(
        [],
        expected="a list of slices, or patterns such as invoices.*",
        meaning="What its members are offered, and nobody of another group. A slice belongs to "
        "one group; where a name and a pattern mean it, the name counts.",
    )
    hours: HoursSettings | None = setting(
        None, expected="a mapping with time_zone and week", meaning="When it works."
    )
    deadline: Literal["working", "elapsed"] | None = setting(
        None,
        expected="working or elapsed",
        meaning="Whether `review.deadline_minutes` counts in the group's working time or on the "
        "clock. By default in working time where `hours` are given.",
    )
    on_call: OnCallSettings | None = setting(
        None,
        expected="a mapping with person, channel or both",
        meaning="Whom an item goes to that nobody decided in time.",
    )
    steps: Annotated[list[Text], Field(max_length=5)] = setting(
        [],
        expected="a list of at most 5 groups, or on_call",
        meaning="Who is asked too at each step up; the last is for all further ones. By default "
        "`on_call` if there is one, otherwise everybody.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.deadline == "working" and self.hours is None:
            raise ValueError("deadline: working needs hours")
        for what, found in (("members", self.members), ("slices", self.slices)):
            twice = sorted({one for one in found if found.count(one) > 1})
            if twice:
                raise ValueError(f"{what}: {', '.join(twice)} stands there twice")
        return self

    def working_hours(self) -> WorkingHours | None:
        """Return the hours in which deadlines count, None for the clock."""
        return None if self.hours is None or self.deadline == "elapsed" else self.hours.hours()

    def called(self) -> OnCall | None:
        """Return who is on call, as the core's value."""
        given = self.on_call
        return None if given is None else OnCall(person=given.person, channel=given.channel)
