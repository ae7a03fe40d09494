"""A person who decides by page and by chat is one person, whose ways are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from sureline.application.review.counting import Counting
from sureline.application.review.reviewer_words import flag_reason
from sureline.application.review.reviewers import Reviewers, reviewers_json
from sureline.core.review.attention import DoneItem
from sureline.core.review.double_review import TwoAnswers
from sureline.core.review.honeypot import PlantedAnswer, PlantedFor
from sureline.core.values.outcome import Action
from sureline.testing import MOMENT, FixedClock

ADA, ADA_IN_CHAT = "Ada", "inbound:chat:Ada"


def answer(number: int, by: str, caught: bool, slice_key: str = "letters") -> PlantedAnswer:
    return PlantedAnswer(
        review_id=f"p{number}",
        slice_key=slice_key,
        purpose=PlantedFor.HONEYPOT,
        by=by,
        correct=not caught,
        seconds=9.0,
        answered_at=MOMENT + timedelta(minutes=number),
    )


class Kept:
    """What a store has kept of Ada and Bo."""

    def __init__(self, *answers: PlantedAnswer) -> None:
        self.given = answers

    async def answers(self, workspace: str, since: datetime) -> Sequence[PlantedAnswer]:
        return self.given

    async def done(self, workspace: str, since: datetime) -> Sequence[DoneItem]:
        return [
            DoneItem(by=by, slice_key="letters", action=Action.APPROVE, at=MOMENT, seconds=seconds)
            for by, seconds in ((ADA, 20.0), (ADA_IN_CHAT, 2.0), (ADA, None))
        ]

    async def pairs(self, workspace: str, since: datetime) -> Sequence[TwoAnswers]:
        return [
            TwoAnswers(slice_key="letters", first_by="Bo", first=one, second_by=by, second=one)
            for one, by in ((True, ADA), (False, ADA_IN_CHAT))
        ]


def test_what_was_missed_by_two_ways_is_one_persons() -> None:
    """Two errors missed on the page and two in the chat name Ada; her labels go by either way."""
    answers = [answer(n, ADA if n % 2 else ADA_IN_CHAT, caught=False) for n in range(4)]
    found = Counting.of(answers)
    assert found.unseen == {ADA: ()}
    assert found.answers == ()
    assert found.unseen_in("letters") == (ADA,)


def test_the_ways_stand_side_by_side() -> None:
    """Figures of the person, and under them those of each way; nobody else is named to her."""
    kept = Kept(answer(1, ADA, True), answer(2, ADA_IN_CHAT, False))
    people = Reviewers(planted=kept, clock=FixedClock(), workspace="w")  # type: ignore[arg-type]
    report = asyncio.run(people.only(ADA))
    (one,) = report.reviewers
    assert (one.name, one.work.items, one.work.p95_seconds) == (ADA, 3, 20.0)
    assert [(way.by, way.detection.caught) for way in one.ways] == [(ADA, 1), (ADA_IN_CHAT, 0)]
    assert one.agreement.pairs == 2
    assert one.agreement.value == 1.0
    assert "Bo" not in str(reviewers_json(report))
    assert flag_reason(one) == ""


def test_who_looks_in_one_slice_only_is_excluded_in_the_other() -> None:
    """The reason names the slice; elsewhere labels and answers count on both sides."""
    missed = [answer(n, ADA, caught=False, slice_key="letters") for n in range(6)]
    seen = [answer(10 + n, ADA, caught=True, slice_key="notes") for n in range(60)]
    kept = Kept(*seen, *missed)
    found = Counting.of(kept.given)
    assert found.unseen == {ADA: ("letters",)}
    assert (found.unseen_in("letters"), found.unseen_in("notes")) == ((ADA,), ())
    assert (found.measured("letters").own.shown, found.measured("letters").used.shown) == (0, 60)
    people = Reviewers(planted=kept, clock=FixedClock(), workspace="w")  # type: ignore[arg-type]
    (one,) = asyncio.run(people.everybody()).reviewers
    assert flag_reason(one).startswith("0 of 6 planted errors in letters were noticed")
    assert "Your labels certify nothing in letters" in flag_reason(one, own=True)
