"""What can be done with an item of the queue: tables of steps, and properties of any sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review import transitions
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewRules, ReviewState, Verdict
from sureline.errors import Conflict, Forbidden, InvalidInput, SurelineError

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)
SHOWN, EDITED = content_digest({"total": 1}), content_digest({"total": 2})


def item(**fields: object) -> Review:
    given = {
        "workspace": "default",
        "id": "r1",
        "decision_id": "r1",
        "slice_key": "invoices",
        "kind": ReviewKind.REVIEW,
        "rank": 0,
        "uncertainty": 0.5,
        "digest": SHOWN,
        "opened_at": NOW,
        "deadline": NOW + DAY,
        "rules": ReviewRules(),
    }
    return Review(**{**given, **fields})  # type: ignore[arg-type]


def said(action: Action, by: str = "ada", at: datetime = NOW, digest: str = SHOWN) -> Verdict:
    edited = {"total": 2} if action is Action.EDIT else None
    return Verdict(action=action, by=by, digest=digest, at=at, edited=edited)


def decide(one: Review, action: Action, by: str = "ada", at: datetime = NOW) -> Review:
    digest = EDITED if action is Action.EDIT else None
    return transitions.decide(one, said(action, by, at, one.digest), edited_digest=digest)


DECIDED = decide(item(), Action.APPROVE)
HELD = transitions.claim(item(), "kim", NOW)
FOUR_EYES = item(rules=ReviewRules(approvals=2))


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        pytest.param(
            lambda: transitions.claim(HELD, "ada", NOW), Conflict, "claimed by kim", id="taken"
        ),
        pytest.param(
            lambda: decide(HELD, Action.APPROVE),
            Conflict,
            "claimed by kim",
            id="decided by another",
        ),
        pytest.param(
            lambda: decide(DECIDED, Action.REJECT, "kim"),
            Conflict,
            "approve by ada",
            id="decided before",
        ),
        pytest.param(
            lambda: transitions.decide(item(), said(Action.APPROVE, digest=EDITED)),
            Conflict,
            "has changed",
            id="another content",
        ),
        pytest.param(
            lambda: decide(item(submitted_by="ada"), Action.APPROVE),
            Forbidden,
            "their own",
            id="own proposal",
        ),
        pytest.param(
            lambda: decide(decide(FOUR_EYES, Action.APPROVE), Action.APPROVE),
            Conflict,
            "somebody else",
            id="the same eyes twice",
        ),
        pytest.param(
            lambda: decide(item(level=1), Action.APPROVE, at=NOW + DAY),
            Conflict,
            "expired",
            id="too late",
        ),
        pytest.param(
            lambda: transitions.decide(item(), said(Action.EDIT)),
            InvalidInput,
            "as it shall be",
            id="an edit of nothing",
        ),
        pytest.param(
            lambda: decide(item(kind=ReviewKind.AUDIT), Action.EDIT),
            InvalidInput,
            "has acted",
            id="an edit of what has acted",
        ),
        pytest.param(
            lambda: transitions.decide(item(), said(Action.SKIP)),
            InvalidInput,
            "expected approve",
            id="no decision",
        ),
        pytest.param(
            lambda: transitions.undo(DECIDED, "kim", NOW), Forbidden, "of ada", id="undo another's"
        ),
        pytest.param(
            lambda: transitions.undo(DECIDED, "ada", NOW + timedelta(seconds=10)),
            Conflict,
            "stands",
            id="undo too late",
        ),
        pytest.param(
            lambda: transitions.undo(item(), "ada", NOW), Conflict, "no verdict", id="undo nothing"
        ),
        pytest.param(
            lambda: transitions.heartbeat(item(), "ada", NOW), Conflict, "claim it", id="no claim"
        ),
        pytest.param(
            lambda: transitions.skip(HELD, "ada", NOW), Conflict, "kim", id="skip another's"
        ),
    ],
)
def test_a_step_that_cannot_be_done_says_why(
    step: Callable[[], Review], error: type[SurelineError], words: str
) -> None:
    """Who comes too late, second, or without right, is told what stands in the way."""
    with pytest.raises(error, match=words):
        step()


def test_a_lease_that_ran_out_is_free_for_others() -> None:
    """A reviewer who went home holds nothing up."""
    later = NOW + HELD.rules.lease
    assert transitions.settle(HELD, later).state is ReviewState.PENDING
    assert transitions.claim(HELD, "ada", later).claimed_by == "ada"
    kept = transitions.heartbeat(HELD, "kim", later - timedelta(seconds=1))
    assert transitions.settle(kept, later) == kept


def test_two_people_approve_the_same_version() -> None:
    """With four eyes the first approval waits; an edit starts the count anew and stays an edit."""
    first = decide(FOUR_EYES, Action.APPROVE)
    assert (first.state, first.approvals) == (ReviewState.PENDING, ("ada",))
    assert decide(first, Action.APPROVE, "kim").state is ReviewState.DECIDED
    edited = decide(first, Action.EDIT, "kim")
    assert (edited.state, edited.version, edited.approvals) == (ReviewState.PENDING, 2, ("kim",))
    done = decide(edited, Action.APPROVE, "ada")
    assert (done.state, done.approvals) == (ReviewState.DECIDED, ("kim", "ada"))
    assert done.draft is not None
    assert (done.draft.by, done.draft.edited) == ("kim", {"total": 2})
    assert decide(first, Action.REJECT, "kim").state is ReviewState.DECIDED


def test_a_deadline_goes_up_and_ends_in_its_own_state() -> None:
    """Nobody's silence is an approval: it goes a step up, then expires."""
    up = transitions.settle(item(), NOW + DAY)
    assert (up.state, up.level, up.deadline) == (ReviewState.ESCALATED, 1, NOW + 2 * DAY)
    over = transitions.settle(up, NOW + 2 * DAY)
    assert (over.state, over.verdict, over.released) == (ReviewState.EXPIRED, None, True)


PEOPLE = ("ada", "kim", "lee")
STEPS = ("claim", "heartbeat", "give_back", "skip", "escalate", "undo", "approve", "edit", "reject")
ACTS = st.lists(
    st.tuples(st.sampled_from(STEPS), st.sampled_from(PEOPLE), st.integers(0, 90_000)), max_size=30
)


def walk(one: Review, acts: list[tuple[str, str, int]]) -> list[Review]:
    """Do each act that can be done, time going on in between; return all that there was."""
    now, seen = NOW, [one]
    for step, by, seconds in acts:
        now += timedelta(seconds=seconds)
        one = transitions.settle(one, now)
        seen.append(one)
        try:
            if step in {"approve", "edit", "reject"}:
                one = decide(one, Action(step), by, now)
            else:
                one = getattr(transitions, step)(one, by, now)
        except SurelineError:
            continue
        seen.append(one)
    return seen


@given(ACTS, st.integers(1, 3), st.integers(0, 2))
def test_a_released_item_never_changes(acts: list, approvals: int, escalations: int) -> None:  # type: ignore[type-arg]
    """Whatever anybody tries, what was handed out, expired or superseded stays as it is."""
    rules = ReviewRules(approvals=approvals, escalations=escalations)
    seen = walk(item(rules=rules, submitted_by="lee"), acts)
    released = [one for one in seen if one.released]
    assert released == [released[0]] * len(released) if released else True


@given(ACTS, st.integers(1, 3))
def test_nothing_is_approved_by_too_few_or_by_its_author(acts: list, approvals: int) -> None:  # type: ignore[type-arg]
    """A decided item that is not rejected has the approvals that it needs, none of its author."""
    seen = walk(item(rules=ReviewRules(approvals=approvals), submitted_by="lee"), acts)
    for one in seen:
        assert "lee" not in one.approvals
        if one.state is ReviewState.DECIDED and one.verdict is not None:
            rejected = one.verdict.action is Action.REJECT
            assert rejected or len(set(one.approvals)) >= approvals


@given(ACTS)
def test_time_alone_approves_nothing(acts: list) -> None:  # type: ignore[type-arg]
    """Settling an undecided item, however late, never makes a verdict."""
    for one in walk(item(), acts):
        if one.state is not ReviewState.DECIDED:
            late = transitions.settle(one, NOW + 1000 * DAY)
            assert late.state is not ReviewState.DECIDED


def test_what_is_erased_is_forgotten() -> None:
    """An erasure closes the item and deletes what its reviewer wrote."""
    edited = decide(item(rules=ReviewRules(approvals=2)), Action.EDIT)
    gone = transitions.supersede(edited, forget=True)
    assert gone.state is ReviewState.SUPERSEDED
    assert [one.edited for one in gone.given] == [None]
    assert transitions.supersede(replace(DECIDED)) == DECIDED


def test_an_edit_is_taken_back_with_the_content_that_it_made() -> None:
    """After the undo of an edit the content that was shown before is the one to decide on."""
    edited = decide(item(), Action.EDIT)
    back = transitions.undo(edited, "ada", NOW)
    assert (back.digest, back.given, back.claimed_by) == (SHOWN, (), "ada")
    assert back.version > edited.version


def test_a_rejection_that_is_taken_back_leaves_the_edit_before_it() -> None:
    """What the first of two has edited stays the content to decide on."""
    edited = decide(FOUR_EYES, Action.EDIT)
    back = transitions.undo(decide(edited, Action.REJECT, "kim"), "kim", NOW)
    assert back.draft == edited.draft
    assert (back.digest, back.approvals) == (EDITED, ("ada",))
    done = decide(back, Action.APPROVE, "kim")
    assert (done.state, done.digest) == (ReviewState.DECIDED, EDITED)


def test_an_approval_is_taken_back_while_others_are_awaited() -> None:
    """Of several each can take back their own, but no edit that somebody else has approved."""
    three = item(rules=ReviewRules(approvals=3))
    first = decide(decide(three, Action.APPROVE), Action.APPROVE, "kim")
    assert transitions.undo(first, "ada", NOW).approvals == ("kim",)
    with pytest.raises(Conflict, match="of yours"):
        transitions.undo(first, "lee", NOW)
    edited = decide(decide(three, Action.EDIT), Action.APPROVE, "kim")
    with pytest.raises(Conflict, match="somebody has approved"):
        transitions.undo(edited, "ada", NOW)


def answered(action: Action, source: OutcomeSource = OutcomeSource.REVIEW) -> Outcome:
    return Outcome(
        id="o1",
        workspace="default",
        decision_id="r1",
        action=action,
        correct=None,
        source=source,
        by="lee",
        anchored=True,
        recorded_at=NOW,
    )


AUDITED = item(kind=ReviewKind.AUDIT, rank=-1)
INCIDENT = OutcomeSource.INCIDENT


@pytest.mark.parametrize(
    ("before", "outcome", "closed"),
    [
        pytest.param(item(), answered(Action.APPROVE), True, id="an approval"),
        pytest.param(item(), answered(Action.REJECT, INCIDENT), False, id="an incident"),
        pytest.param(FOUR_EYES, answered(Action.APPROVE), False, id="one of two, elsewhere"),
        pytest.param(FOUR_EYES, answered(Action.REJECT), True, id="an objection to one of two"),
        pytest.param(AUDITED, answered(Action.APPROVE), False, id="a review of an audit"),
        pytest.param(AUDITED, answered(Action.REJECT, OutcomeSource.AUDIT), True, id="an audit"),
        pytest.param(DECIDED, answered(Action.REJECT), True, id="an objection in time"),
        pytest.param(DECIDED, answered(Action.REJECT, INCIDENT), True, id="an incident in time"),
        pytest.param(DECIDED, answered(Action.APPROVE), False, id="approved a second time"),
        pytest.param(
            transitions.settle(DECIDED, NOW + DAY), answered(Action.REJECT), False, id="too late"
        ),
    ],
)
def test_an_answer_from_elsewhere(before: Review, outcome: Outcome, closed: bool) -> None:
    """It closes what it settles; an objection also ends what was not handed out yet."""
    after = transitions.close(before, outcome)
    assert (after != before) is closed
    if closed:
        assert (after.state, after.released) == (ReviewState.DECIDED, True)
        assert after.verdict is not None
        assert after.verdict.by == "lee"


@pytest.mark.parametrize(
    ("before", "key", "gone"),
    [
        (item(submitted_by="k1"), "k1", True),
        (item(submitted_by="k1"), "k2", False),
        (item(submitted_by="k1"), None, False),
        (item(), None, True),
        (item(submitted_by="k1", kind=ReviewKind.AUDIT), "k1", False),
    ],
)
def test_only_its_submitter_takes_an_item_away(before: Review, key: str | None, gone: bool) -> None:
    """By another attempt one's own item is superseded: nobody's else, and no audit."""
    after = transitions.replaced(before, slice_key="invoices", submitted_by=key)
    assert (after.state is ReviewState.SUPERSEDED) is gone
    other = transitions.replaced(before, slice_key="payments", submitted_by=key)
    assert other == before


@given(ACTS, st.integers(1, 3))
def test_the_content_to_decide_on_is_what_the_last_edit_made(acts: list, approvals: int) -> None:  # type: ignore[type-arg]
    """Whatever is said and taken back, the digest is that of the edit that stands, if any."""
    for one in walk(item(rules=ReviewRules(approvals=approvals)), acts):
        assert one.digest == (SHOWN if one.draft is None else EDITED)


def test_a_clock_set_back_frees_and_releases_nothing_early() -> None:
    """Of what waits for a moment, nothing happens before it, however the clock goes."""
    early = NOW - DAY
    assert transitions.settle(HELD, early) == HELD
    assert transitions.settle(DECIDED, early) == DECIDED
    with pytest.raises(Conflict, match="claimed by kim"):
        transitions.claim(HELD, "ada", early)
