"""What there is to tell, read off an item before and after a step."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review import transitions
from sureline.core.review.notice import delivery_id, notices
from sureline.core.values.notification import Channel, ChannelKind, NoticeKind
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review, ReviewKind, ReviewRules, Verdict

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ITEM = Review(
    workspace="default",
    id="d1",
    decision_id="d1",
    slice_key="invoices",
    kind=ReviewKind.REVIEW,
    rank=0,
    uncertainty=0.5,
    digest="x",
    opened_at=NOW,
    deadline=NOW + timedelta(days=1),
    rules=ReviewRules(),
    submitted_by="key1",
)


def approved(item: Review) -> Review:
    verdict = Verdict(action=Action.APPROVE, by="ada", digest="x", at=NOW)
    return transitions.decide(item, verdict)


def test_an_opened_item_is_told() -> None:
    """A new item says where it waits and who brought it."""
    (told,) = notices(None, ITEM)
    assert (told.kind, told.slice_key, told.submitted_by) == ("review.opened", "invoices", "key1")
    assert (told.at, told.action) == (NOW, None)


def test_an_audit_is_not_told() -> None:
    """Nobody waits for an audit, and its auditor is to come without knowing."""
    audit = replace(ITEM, kind=ReviewKind.AUDIT)
    assert notices(None, audit) == ()
    after = transitions.settle(approved(audit), NOW + timedelta(seconds=10))
    assert after.released
    assert notices(approved(audit), after) == ()


def test_a_verdict_is_told_once_it_is_released() -> None:
    """Deciding says nothing yet: it can be taken back."""
    decided = approved(ITEM)
    assert notices(ITEM, decided) == ()
    released = transitions.settle(decided, NOW + timedelta(seconds=10))
    (told,) = notices(decided, released)
    assert (told.kind, told.action, told.at) == ("review.decided", "approve", NOW)
    assert notices(released, released) == ()


def test_each_step_up_is_an_event_of_its_own() -> None:
    """Escalated twice are two events; told again each has the same id."""
    item = replace(ITEM, rules=ReviewRules(escalations=2))
    first = transitions.settle(item, item.deadline)
    second = transitions.settle(first, first.deadline)
    one, two = notices(item, first)[0], notices(first, second)[0]
    assert (one.kind, one.level, one.at) == (NoticeKind.ESCALATED, 1, item.deadline)
    assert one.id != two.id
    assert notices(item, first) == (one,)


def test_an_expiry_is_told_and_a_superseded_item_is_not() -> None:
    """Expiry concerns somebody; another attempt took the place of the other."""
    item = replace(ITEM, rules=ReviewRules(escalations=0))
    (told,) = notices(item, transitions.settle(item, item.deadline))
    assert told.kind is NoticeKind.EXPIRED
    assert notices(ITEM, transitions.supersede(ITEM)) == ()


@given(st.text(), st.text(), st.text(), st.text())
def test_ids_are_plain_and_differ(workspace: str, review: str, other: str, channel: str) -> None:
    """Whatever a proposal is called, its event's id fits a header and is its own."""
    (one,) = notices(None, replace(ITEM, workspace=workspace, id=review))
    (two,) = notices(None, replace(ITEM, workspace=workspace, id=other))
    assert (one.id == two.id) == (review == other)
    assert one.id.isascii()
    assert one.id.replace("_", "").isalnum()
    assert delivery_id(one.id, channel) != delivery_id(one.id, channel + "x")


@pytest.mark.parametrize(
    ("restriction", "wanted"),
    [
        ({}, True),
        ({"slices": ("invoices",)}, True),
        ({"slices": ("replies",)}, False),
        ({"keys": ("key1",)}, True),
        ({"keys": ("key2",)}, False),
        ({"events": (NoticeKind.DECIDED,)}, False),
    ],
)
def test_a_channel_wants_what_it_names(
    restriction: dict[str, tuple[str, ...]], wanted: bool
) -> None:
    """Slices, keys and events restrict a channel."""
    given_ = {"events": (NoticeKind.OPENED,), **restriction}
    channel = Channel(name="team", kind=ChannelKind.MESSAGE, **given_)  # type: ignore[arg-type]
    (told,) = notices(None, ITEM)
    assert channel.wants(told) is wanted
