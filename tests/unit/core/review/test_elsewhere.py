"""An answer from outside the queue is bound by the desk's rules: tables of what it may do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sureline.core.review import transitions
from sureline.core.review.elsewhere import as_label, heard, last_word
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewRules, ReviewState, Verdict
from sureline.errors import Conflict, Forbidden

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
SHOWN = content_digest({"total": 1})
A, R, E, X = Action.APPROVE, Action.REJECT, Action.EDIT, Action.EXPIRED
REVIEW, AUDIT, INCIDENT, IMPORT = (
    OutcomeSource.REVIEW,
    OutcomeSource.AUDIT,
    OutcomeSource.INCIDENT,
    OutcomeSource.IMPORT,
)


def item(kind: ReviewKind = ReviewKind.REVIEW, by: str | None = "bot", **rules: object) -> Review:
    return Review(
        workspace="default",
        id="r1",
        decision_id="r1",
        slice_key="invoices",
        kind=kind,
        rank=0,
        uncertainty=0.5,
        digest=SHOWN,
        opened_at=NOW,
        deadline=NOW + timedelta(days=1),
        rules=ReviewRules(**{"escalations": 0, **rules}),  # type: ignore[arg-type]
        submitted_by=by,
    )


def says(
    action: Action, by: str = "bo", source: OutcomeSource = REVIEW, after: float = 1, **more: object
) -> Outcome:
    given = {
        "id": f"{action}-{by}-{after}",
        "workspace": "default",
        "decision_id": "r1",
        "action": action,
        "correct": {A: True, R: False, E: False}.get(action),
        "source": source,
        "by": by,
        "anchored": True,
        "recorded_at": NOW + timedelta(seconds=after),
    }
    return Outcome(**{**given, **more})  # type: ignore[arg-type]


def decided(action: Action, one: Review | None = None) -> Review:
    digest = content_digest({"total": 2}) if action is E else None
    edited = {"total": 2} if digest else None
    given = Verdict(action=action, by="ada", digest=SHOWN, at=NOW, edited=edited)
    return transitions.decide(one or item(), given, edited_digest=digest)


def later(one: Review, days: float = 2) -> Review:
    return transitions.settle(one, NOW + timedelta(days=days))


HELD = transitions.claim(item(), "ada", NOW)
APPROVED, REJECTED, EDITED = later(decided(A)), later(decided(R)), later(decided(E))
EXPIRED, REPLACED = later(item()), transitions.supersede(item())
BLIND, TWO = item(answer_first=True), item(approvals=2)


@pytest.mark.parametrize(
    ("before", "outcome", "error", "words"),
    [
        pytest.param(HELD, says(A), Conflict, "claimed by ada", id="claimed: yes"),
        pytest.param(HELD, says(R), Conflict, "claimed by ada", id="claimed: no"),
        pytest.param(HELD, says(E), Conflict, "claimed by ada", id="claimed: edit"),
        pytest.param(item(), says(A, "bot"), Forbidden, "own proposal", id="own"),
        pytest.param(item(), says(A, "BOT "), Forbidden, "own proposal", id="own, read alike"),
        pytest.param(BLIND, says(A), Conflict, "right first", id="answer first: yes"),
        pytest.param(BLIND, says(R), Conflict, "right first", id="answer first: no"),
        pytest.param(TWO, says(A), Conflict, "2 people must approve", id="one of two"),
        pytest.param(decided(R), says(A), Conflict, "reject by ada", id="a yes after a no"),
        pytest.param(decided(A), says(A), Conflict, "approve by ada", id="a second yes"),
    ],
)
def test_what_the_desk_refuses_is_refused(
    before: Review, outcome: Outcome, error: type[Exception], words: str
) -> None:
    """Claims, four eyes, answering first and who was first hold on every way."""
    with pytest.raises(error, match=words):
        heard(before, outcome, at_once=False)


@pytest.mark.parametrize(
    ("before", "outcome", "at_once", "released"),
    [
        pytest.param(item(), says(A), False, False, id="a yes waits for objections"),
        pytest.param(item(), says(A), True, True, id="a yes to what is only logged"),
        pytest.param(item(), says(R), False, True, id="a no"),
        pytest.param(item(), says(E), False, True, id="an edit without its content is a no"),
        pytest.param(HELD, says(A, "ada"), False, False, id="whose claim it is"),
        pytest.param(BLIND, says(A, anchored=False), False, False, id="who answered first"),
        pytest.param(TWO, says(R), False, True, id="an objection to one of two"),
        pytest.param(decided(A), says(R), False, True, id="an objection in time"),
    ],
)
def test_an_answer_is_a_verdict_on_what_is_there_now(
    before: Review, outcome: Outcome, at_once: bool, released: bool
) -> None:
    """It decides the open item, bound to its content; it cannot be taken back, only objected to."""
    after = heard(before, outcome, at_once=at_once)
    assert (after.state, after.released) == (ReviewState.DECIDED, released)
    assert after.verdict is not None
    assert (after.verdict.by, after.verdict.digest) == (outcome.by, SHOWN)
    with pytest.raises(Conflict):
        transitions.undo(after, outcome.by, outcome.recorded_at)


@pytest.mark.parametrize("action", [A, R, E])
@pytest.mark.parametrize(
    "over", [APPROVED, REJECTED, EDITED, EXPIRED, REPLACED], ids=lambda one: one.state.value
)
def test_what_is_over_stays_as_it_is(over: Review, action: Action) -> None:
    """Nothing that is said afterwards changes how an item ended."""
    assert heard(over, says(action, after=200_000), at_once=False) == over


def test_of_several_who_must_approve_what_is_only_logged_one_gives_a_label() -> None:
    """Nobody acts on it: the item waits on, and nothing is refused."""
    assert heard(TWO, says(A), at_once=True) == TWO


@pytest.mark.parametrize(
    ("one", "outcome", "held", "counts"),
    [
        pytest.param(item(), says(A), None, True, id="a first yes"),
        pytest.param(None, says(A), says(R, "ada"), False, id="a yes over another's no"),
        pytest.param(None, says(A), says(R, "bo"), True, id="a yes over one's own no"),
        pytest.param(None, says(A), says(A, "ada"), True, id="a yes after a yes"),
        pytest.param(None, says(R), says(A, "ada"), True, id="a no over another's yes"),
        pytest.param(None, says(A, source=IMPORT), says(R, "ada"), False, id="an imported yes"),
        pytest.param(None, says(A, source=AUDIT), says(R, "ada"), True, id="an audit's yes"),
        pytest.param(
            None,
            says(A, source=AUDIT),
            says(R, "ada", AUDIT),
            False,
            id="an audit's over another's",
        ),
        pytest.param(
            None,
            says(A, source=INCIDENT),
            says(R, "ada", INCIDENT),
            True,
            id="an incident put right",
        ),
        pytest.param(REJECTED, says(A, "ada"), says(R, "ada"), False, id="a yes after one's no"),
        pytest.param(EXPIRED, says(A), None, False, id="a yes after the deadline"),
        pytest.param(REPLACED, says(A), None, False, id="a yes to what was replaced"),
        pytest.param(EXPIRED, says(A, source=INCIDENT), None, True, id="an incident says yes"),
        pytest.param(EXPIRED, says(R), None, True, id="a no after the deadline"),
        pytest.param(APPROVED, says(A), says(A, "ada"), True, id="a yes after a release"),
    ],
)
def test_a_yes_overrules_nobody(
    one: Review | None, outcome: Outcome, held: Outcome | None, counts: bool
) -> None:
    """It is kept as said, and is a label only where it takes nobody's no away."""
    found = as_label(one, outcome, held, at_once=False)
    assert (found.correct is not None) is counts
    assert replace(found, correct=outcome.correct) == outcome


def test_what_is_only_logged_is_labelled_late() -> None:
    """Where nobody acts on it a label may come after the deadline."""
    assert as_label(EXPIRED, says(A), None, at_once=True).correct is True


BY_ADA = {A: says(A, "ada", after=0), R: says(R, "ada", after=0), E: says(E, "ada", after=0)}
GONE = says(X, "deadline", after=86_400)
LATE = 200_000.0


@pytest.mark.parametrize(
    ("one", "outcomes", "last"),
    [
        pytest.param(APPROVED, [BY_ADA[A]], BY_ADA[A], id="released"),
        pytest.param(APPROVED, [BY_ADA[A], says(A, after=LATE)], BY_ADA[A], id="a second yes"),
        pytest.param(
            APPROVED,
            [BY_ADA[A], says(R, after=LATE), says(A, "cy", after=LATE + 1)],
            says(R, after=LATE),
            id="no yes lifts an objection",
        ),
        pytest.param(REJECTED, [BY_ADA[R], says(A, after=LATE)], BY_ADA[R], id="rejected"),
        pytest.param(
            REJECTED,
            [BY_ADA[R], says(A, "root", INCIDENT, LATE), says(A, "root", AUDIT, LATE)],
            BY_ADA[R],
            id="rejected, a stronger label",
        ),
        pytest.param(EDITED, [BY_ADA[E], says(A, after=LATE)], BY_ADA[E], id="edited"),
        pytest.param(EXPIRED, [GONE, says(A, after=LATE)], GONE, id="expired"),
        pytest.param(REPLACED, [says(A, after=LATE)], None, id="replaced"),
        pytest.param(None, [says(A)], says(A), id="nothing was queued"),
        pytest.param(None, [says(A, source=IMPORT)], None, id="nothing was queued: imported"),
        pytest.param(item(ReviewKind.AUDIT), [says(R), says(A)], says(A), id="acted alone: lifted"),
    ],
)
def test_only_what_the_item_released_is_released(
    one: Review | None, outcomes: list[Outcome], last: Outcome | None
) -> None:
    """A yes after a no, an expiry or another attempt releases nothing, whoever says it."""
    assert last_word(outcomes, one) == last
