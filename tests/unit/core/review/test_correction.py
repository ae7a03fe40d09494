"""What is held of a released output turns only when a label of its would (R14)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.learning.labels import effective
from sureline.core.review.correction import Answered, corrections, released_from
from sureline.core.review.incidents import Closing, cases
from sureline.core.review.message import message
from sureline.core.review.notice import corrected_notice, switch_notice
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.switch import Switch
from sureline.testing import MOMENT


def answered(mark: int, correct: bool, source: OutcomeSource = OutcomeSource.AUDIT) -> Answered:
    """Make the answer at a place of the ledger."""
    return Answered(
        mark=mark,
        id=f"o{mark}",
        action=Action.APPROVE if correct else Action.REJECT,
        correct=correct,
        source=source,
        by="kim",
        at=MOMENT + timedelta(seconds=mark),
    )


def as_outcome(one: Answered) -> Outcome:
    return Outcome(
        id=one.id,
        workspace="default",
        decision_id="d1",
        action=one.action,
        correct=one.correct,
        source=one.source,
        by=one.by,
        anchored=True,
        recorded_at=one.at,
    )


ANSWERS = st.lists(st.tuples(st.booleans(), st.sampled_from(OutcomeSource)), max_size=12).map(
    lambda rows: [answered(n, correct, source) for n, (correct, source) in enumerate(rows)]
)


@given(answers=ANSWERS)
def test_what_is_held_in_the_end_is_the_label(answers: list[Answered]) -> None:
    """After the last turn the output is held to be what its label says; turns alternate."""
    turned = corrections(answers, 0)
    label = effective([as_outcome(one) for one in answers])
    held = turned[-1].correct if turned else True
    assert held is (True if label is None else label.correct)
    assert [one.correct for one in turned] == [n % 2 == 1 for n in range(len(turned))]


@given(answers=ANSWERS, cut=st.integers(min_value=0, max_value=12))
def test_turns_are_the_same_told_one_by_one(answers: list[Answered], cut: int) -> None:
    """What is noted with each answer is what is read off all of them later."""
    assert (
        corrections(answers[:cut], 0)
        == corrections(answers, 0)[: len(corrections(answers[:cut], 0))]
    )


@given(answers=ANSWERS, closed=st.none() | st.integers(min_value=0, max_value=12))
def test_every_wrong_turn_belongs_to_an_incident(
    answers: list[Answered], closed: int | None
) -> None:
    """One is open at a time; a closed one takes in nothing that came later."""
    turned = corrections(answers, 0)
    first = cases(turned, {}, workspace="default", decision_id="d1")
    assert len(first) == bool(turned)
    if not first or closed is None or closed < turned[0].answer.mark:
        return
    assert first[0].stands is (not turned[-1].correct)
    closings = {first[0].id: Closing(mark=closed, at=MOMENT, by="ada", note="done")}
    found = cases(turned, closings, workspace="default", decision_id="d1")
    later = [one for one in turned if not one.correct and one.answer.mark > closed]
    assert len(found) == 1 + bool(later)
    assert [one.closing is None for one in found] == [False, True][: len(found)]


@pytest.mark.parametrize(
    ("route", "start"), [("auto_approve", 0), ("human_review", None), ("auto_reject", None)]
)
def test_without_an_item_only_what_acted_was_released(route: str, start: int | None) -> None:
    """What went to a person and has no item, such as an imported row, was not released here."""
    assert released_from(route, None, [answered(0, False)]) == start


def test_people_read_what_was_corrected_and_switched() -> None:
    """One line for each slice, with counts; a batch's name is shown as harmless text."""
    turned = corrections([answered(1, False), answered(2, True)], 0)
    told = [
        corrected_notice(
            one, workspace="default", decision_id="d1", slice_key="invoices", submitted_by=None
        )
        for one in turned
    ]
    body = message(told, page="https://review.example.com").body
    assert body.startswith("corrections in invoices, of what was released: now 1 right, 1 wrong")
    switched = [
        switch_notice(
            Switch(workspace="default", scope=scope, on=True, reason="x", by=by, changed_at=MOMENT),
            mark,
            by_guard=by == "guard",
        )
        for mark, (scope, by) in enumerate((("batch:<b>", "ada"), ("slice:invoices", "guard")))
    ]
    text = message(switched, page="https://review.example.com").body
    assert "switched: batch:‹b› on" in text
    assert "invoices was given to people" in text
    assert message(switched[:1], page="https://review.example.com").body.endswith("/switches")
