"""The keys of a policy that say how people review a slice."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from sureline.adapters.policies.setting import Settings, setting
from sureline.core.values.attention_shares import AttentionShares
from sureline.core.values.review import ReviewRules


class ReviewSettings(Settings):
    """How people review."""

    deadline_minutes: Annotated[int, Field(ge=1, le=525_600)] = setting(
        1440,
        expected="a whole number from 1 to 525600",
        meaning="How long an item may wait before it goes a step up, in the working hours of the "
        "slice's group where it has any; after the last step it expires, which is never an "
        "approval.",
    )
    escalations: Annotated[int, Field(ge=0, le=5)] = setting(
        1, expected="a whole number from 0 to 5", meaning="How many steps up there are."
    )
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = setting(
        15,
        expected="a whole number from 1 to 1440",
        meaning="How long a claim holds without a sign of life.",
    )
    undo_seconds: Annotated[int, Field(ge=0, le=3600)] = setting(
        10,
        expected="a whole number from 0 to 3600",
        meaning="How long a verdict can be taken back; so long it is not handed out.",
    )
    approvals: Annotated[int, Field(ge=1, le=5)] = setting(
        1,
        expected="a whole number from 1 to 5",
        meaning="How many different people must approve; with `four_eyes` at least two.",
    )

    honeypots: Annotated[float, Field(ge=0, le=0.5)] = setting(
        0.05,
        expected="a number from 0 to 0.5",
        meaning="Known errors that are planted, per item that comes to people; they measure "
        "whether people look.",
    )
    double_review: Annotated[float, Field(ge=0, le=1)] = setting(
        0.05,
        expected="a number from 0 to 1",
        meaning="The share of decided items that somebody else decides again, blind.",
    )
    answer_first: Annotated[float, Field(ge=0, le=1)] = setting(
        0.0,
        expected="a number from 0 to 1",
        meaning="The share of items whose output is shown only after the reviewer's own answer.",
    )

    missed_errors: Literal["report", "certify"] = setting(
        "report",
        expected="report or certify",
        meaning="What is made of the errors that reviewers miss, as planted errors show it: "
        "reports state precision with and without them, or certificates must allow for them too.",
    )

    def shares(self) -> AttentionShares:
        """Return how much is there to see whether people look, as the core's value."""
        return AttentionShares(
            honeypots=self.honeypots,
            double_review=self.double_review,
            answer_first=self.answer_first,
        )

    def rules(self, *, four_eyes: bool) -> ReviewRules:
        """Return them as the core's value."""
        return ReviewRules(
            deadline=timedelta(minutes=self.deadline_minutes),
            escalations=self.escalations,
            lease=timedelta(minutes=self.lease_minutes),
            undo=timedelta(seconds=self.undo_seconds),
            approvals=max(self.approvals, 2) if four_eyes else self.approvals,
        )
