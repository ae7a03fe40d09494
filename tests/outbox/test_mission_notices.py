"""Missions in the outbox: who is told what of which mission, and how it comes there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from sureline.application.ports.outbox import DeliveryState
from sureline.bootstrap import Services, operations_of
from sureline.core.review.callback import callback_body
from sureline.core.review.message import MOST_BODY, message
from sureline.core.review.mission_words import mission_line
from sureline.core.values.mission import Cause
from sureline.core.values.notification import (
    Channel,
    ChannelKind,
    Notice,
    NoticeKind,
    Notifications,
)
from sureline.testing import FixedClock
from tests.missioned import missioned, reply
from tests.outbox.told import courier, now, opened, outbox, pass_time, policy, webhook
from tests.receivers import SECRET, Receiver, receiving

ALL = "[mission_suspended, mission_reminded, mission_recovered, mission_failed, mission_completed]"
PAGE = "https://review.example.com"


def told(
    mission: str = "m1",
    kind: NoticeKind = NoticeKind.MISSION_SUSPENDED,
    cause: Cause = Cause.UNSURE,
    level: int = 0,
    **facts: str,
) -> Notice:
    """Return a notice as the step of a mission makes it."""
    return Notice(
        workspace="default",
        id=f"evt_{mission}_{kind.name}_{level}",
        kind=kind,
        slice_key="mission.books",
        review_id="",
        decision_id="",
        at=now(),
        level=level,
        facts={"mission": mission, "cause": cause.value, **facts},
    )


async def put(services: Services, found: Sequence[Notice]) -> None:
    """Write notices as the transaction of a step does."""
    from sureline.adapters.storage.outbox_rows import put_notices

    await services.store.database.write(lambda transaction: put_notices(transaction, found))


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    with receiving() as found:
        yield found


WORDS = {
    NoticeKind.MISSION_SUSPENDED: "mission m1 of books waits for a person",
    NoticeKind.MISSION_REMINDED: "mission m1 of books still waits for a person",
    NoticeKind.MISSION_FAILED: "mission m1 of books failed",
    NoticeKind.MISSION_COMPLETED: "mission m1 of books is completed",
    NoticeKind.MISSION_RECOVERED: "mission m1 of books waits for a person no more",
}


@pytest.mark.parametrize(("kind", "said"), WORDS.items(), ids=[one.name for one in WORDS])
def test_what_is_said_of_one_mission(kind: NoticeKind, said: str) -> None:
    """The line says which, what and why, with the figures; the link leads to its page."""
    text = message([told(kind=kind, confidence="0.41", threshold="0.7")], page=PAGE)
    assert text.title == f"{said}: the judge is not sure enough (confidence 0.41, threshold 0.7)"
    assert text.body == f"{text.title}\n{PAGE}/missions/m1"


@pytest.mark.parametrize("cause", Cause, ids=lambda one: one.value)
def test_every_cause_has_words(cause: Cause) -> None:
    """No cause is told as its code, and none is told as another."""
    lines = {mission_line(told(cause=one), str) for one in Cause}
    assert len(lines) == len(Cause)
    assert cause is Cause.PERSON or f": {cause.value}" not in mission_line(told(cause=cause), str)


def test_an_agent_s_id_is_no_markup_and_no_link() -> None:
    """Whoever makes a mission names it: its name is harmless in text, and quoted in an address."""
    text = message([told("<b>https://evil.example/</b>\u202e")], page=PAGE)
    assert "<" not in text.body
    assert "://evil" not in text.body
    assert text.body.endswith("/missions/%3Cb%3Ehttps%3A%2F%2Fevil.example%2F%3C%2Fb%3E%E2%80%AE")


def test_each_mission_has_its_line() -> None:
    """Two missions that fail in one second are two lines, and a thousand say what is left out."""
    text = message([told("a"), told("b")], page=PAGE)
    assert text.title == "2 things happened to missions"
    assert [line.split()[1] for line in text.body.splitlines()[:2]] == ["a", "b"]
    assert text.body.endswith(f"\n{PAGE}/missions")
    many = message([told(f"m{number}") for number in range(1000)], page=PAGE)
    assert len(many.body) <= MOST_BODY
    assert "more lines that do not fit here" in many.body


def test_missions_and_items_are_told_together() -> None:
    """A gathered message leads to both."""
    item = Notice(
        workspace="default",
        id="evt_1",
        kind=NoticeKind.OPENED,
        slice_key="replies",
        review_id="d1",
        decision_id="d1",
        at=now(),
    )
    text = message([item, told()], page=PAGE)
    assert text.title == "2 things happened in the review queue"
    assert text.body.splitlines()[1:] == [
        "1 item waits in replies",
        f"{PAGE}/missions",
        f"{PAGE}/?slice=replies",
    ]


def test_a_program_gets_codes_and_figures() -> None:
    """The callback names the mission, the cause and the figures, and links to its page."""
    event = json.loads(callback_body(told(confidence="0.41"), page=PAGE, shown={}))
    assert event["type"] == "mission.suspended"
    assert event["data"]["facts"] == {"mission": "m1", "cause": "unsure", "confidence": "0.41"}
    assert event["data"]["link"] == f"{PAGE}/missions/m1"


@pytest.mark.parametrize(
    ("kind", "level", "who"),
    [
        (NoticeKind.MISSION_SUSPENDED, 0, ("pager",)),
        (NoticeKind.MISSION_REMINDED, 1, ("chief", "pager")),
        (NoticeKind.MISSION_REMINDED, 9, ("chief", "pager")),
        (NoticeKind.MISSION_FAILED, 0, ("pager",)),
        (NoticeKind.MISSION_RECOVERED, 0, ()),
        (NoticeKind.MISSION_COMPLETED, 0, ()),
    ],
)
def test_whoever_is_on_call_is_told(kind: NoticeKind, level: int, who: tuple[str, ...]) -> None:
    """Of what waits and of what failed, whatever else their channel takes; each reminder goes up.

    The kind of a mission is a slice, so that a group may have it as its own.
    """
    channels = tuple(
        Channel(name=name, kind=ChannelKind.WEBHOOK, events=(NoticeKind.DECIDED,))
        for name in ("chief", "pager", "other")
    )
    called = {"mission.books": (("pager",), ("pager", "chief"))}
    policy = Notifications(channels=channels, called=called)
    assert policy.receivers(told(kind=kind, level=level)) == who


async def test_two_missions_within_a_second_are_both_told(receiver: Receiver) -> None:
    """Each has its own event; the same step told twice is one."""
    services = await opened(None, policy(webhook(receiver.url, events=ALL)))
    carrier = courier(services)
    await put(services, [told("a"), told("b")])
    await put(services, [told("a")])
    await carrier.round()
    await carrier.round()
    events = [one.verified() for one in receiver.received]
    assert sorted(one["data"]["facts"]["mission"] for one in events) == ["a", "b"]
    services.close()


async def test_a_webhook_that_did_not_ask_is_told_of_no_mission(receiver: Receiver) -> None:
    """What a receiver has not been written for is not sent to it."""
    services = await opened(None, policy(webhook(receiver.url)))
    await put(services, [told(kind=kind) for kind in WORDS])
    await courier(services).round()
    assert receiver.received == []
    services.close()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_receiver_in_trouble_is_tried_again(status: int, receiver: Receiver) -> None:
    """The escalation waits in the outbox, counts there, and arrives under its old ids."""
    receiver.says = lambda number: status if number == 1 else 204
    services = await opened(None, policy(webhook(receiver.url, events=ALL)))
    carrier = courier(services)
    await put(services, [told()])
    await carrier.round()
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.said) == ("waiting", f"status_{status}")
    pass_time(services, timedelta(seconds=60))
    found = await operations_of(services).read()
    assert (found.untold, found.dead) == (1, 0)
    assert found.untold_seconds >= 60
    await carrier.round()
    assert len({one.id for one in receiver.received}) == 1
    (delivery,) = await outbox(services)
    assert delivery.state is DeliveryState.DELIVERED
    services.close()


async def test_a_receiver_that_asks_for_time_gets_it(receiver: Receiver) -> None:
    """Nothing is sent before the Retry-After of a 429 is over."""
    receiver.says = lambda number: 429 if number == 1 else 204
    receiver.headers = {"retry-after": "90"}
    services = await opened(None, policy(webhook(receiver.url, events=ALL)))
    carrier = courier(services)
    await put(services, [told()])
    for _ in range(10):
        await carrier.round()
        pass_time(services, timedelta(seconds=8.9))
    assert len(receiver.received) == 1
    pass_time(services, timedelta(seconds=1.1))
    await carrier.round()
    assert len(receiver.received) == 2
    services.close()


async def test_an_address_that_is_wrong_is_seen_at_once(receiver: Receiver) -> None:
    """A 404 does not mend itself: the delivery is dead, counted, and can be replayed."""
    receiver.says = lambda number: 404 if number == 1 else 204
    services = await opened(None, policy(webhook(receiver.url, events=ALL)))
    carrier = courier(services)
    await put(services, [told()])
    await carrier.round()
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.said, delivery.tries) == ("dead", "status_404", 1)
    assert (await operations_of(services).read()).dead == 1
    await services.store.outbox.replay("default", now=services.clock.now(), ids=(), channel=None)
    await carrier.round()
    (delivery,) = await outbox(services)
    assert delivery.state is DeliveryState.DELIVERED
    services.close()


async def test_a_kind_of_mission_may_have_a_group_a_channel_and_fields(receiver: Receiver) -> None:
    """It is a slice: its on-call is told, reminders go further up, and named fields leave."""
    url = receiver.url
    hook = {"kind": "webhook", "secret_from": "HOOK_SECRET", "events": ["decided"]}
    more = {
        "notifications": {
            "page": PAGE,
            "allow_private": ["127.0.0.1"],
            "fields": [{"slice": "mission.books", "show": ["progress"]}],
            "channels": [
                {"name": "pager", "url": f"{url}?pager", **hook},
                {"name": "chief", "url": f"{url}?chief", **hook},
                {"name": "books", "url": f"{url}?books", **hook, "slices": ["mission.books"]}
                | {"events": ["mission_suspended"]},
            ],
        },
        "groups": {
            "keepers": {
                "members": ["ada"],
                "slices": ["mission.books"],
                "on_call": {"person": "lee", "channel": "pager"},
                "steps": ["chiefs"],
            },
            "chiefs": {"members": ["kim"], "on_call": {"channel": "chief"}},
        },
    }
    clock = FixedClock()
    with missioned(reply(False, 0.2, progress="Five are closed."), clock=clock, more=more) as world:
        await world.create()
        await world.turn()
        await world.evaluate()
        carrier = courier(world.gate.services)
        await carrier.round()
        first = {one.path.partition("?")[2]: one.event for one in receiver.received}
        receiver.received.clear()
        clock.advance(timedelta(hours=1))
        await world.missions.tick()
        await carrier.round()
    assert set(first) == {"pager", "books"}
    assert {one["data"]["fields"]["progress"] for one in first.values()} == {"Five are closed."}
    told = first["books"]["data"]
    assert told["link"] == f"{PAGE}/missions/m1"
    assert told["facts"]["confidence"] == "0.2"
    assert told["facts"]["threshold"] == "0.7"
    reminded = {one.path.partition("?")[2]: one.event["type"] for one in receiver.received}
    assert reminded == {"pager": "mission.reminded", "chief": "mission.reminded"}
