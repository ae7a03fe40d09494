"""Signed callbacks over real HTTP: at least once and under the same ids, whoever receives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.label import GivenAnswer
from sureline.application.ports.outbox import DeliveryState
from sureline.core.review.pacing import TRIES
from sureline.core.values.notification import Notifications
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.switch import Switch
from sureline.testing import FixedClock
from tests.outbox.told import (
    courier,
    decide,
    now,
    opened,
    outbox,
    pass_time,
    policy,
    release,
    submit,
    until,
    webhook,
)
from tests.receivers import SECRET, Receiver, receiving


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


async def test_an_agent_is_told_the_verdict(receiver: Receiver) -> None:
    """The callback is signed, has decision and action, and none of the output's words."""
    services = await opened(None, policy(webhook(receiver.url)))
    decision_id = await submit(services, output="The secret word is plum.")
    await decide(services, decision_id)
    carrier = courier(services)
    await carrier.round()
    assert receiver.received == []  # it can still be taken back
    await release(services)
    await carrier.round()
    (request,) = receiver.received
    event = request.verified()
    assert event["type"] == "review.decided"
    assert event["data"]["decision_id"] == decision_id
    assert event["data"]["action"] == "approve"
    assert event["data"]["link"] == f"https://review.example.com/reviews/{decision_id}"
    assert event["data"]["fields"] == {}
    assert event["id"] == request.headers["sureline-event-id"]
    assert b"plum" not in request.body
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.tries, delivery.id) == ("delivered", 1, request.id)
    await carrier.round()
    assert len(receiver.received) == 1
    services.close()


async def test_only_the_fields_that_the_policy_names_leave(receiver: Receiver) -> None:
    """A field that is named is told, and after an erasure it is not."""
    text = policy(webhook(receiver.url), fields='[{slice: invoices, show: [vendor, "lines[].n"]}]')
    services = await opened(None, text)
    output = {"vendor": "Acme", "total": 7, "lines": [{"n": 1}, {"n": 2}]}
    for number in (0, 1):
        one = await submit(services, number, slice_key="invoices", output=output)
        await decide(services, one)
    await release(services)
    await services.store.ledger.erase(
        "default", "d001", by="ada", reason="asked", at=services.clock.now()
    )
    await courier(services).round()
    told = {
        one.event["data"]["decision_id"]: one.event["data"]["fields"] for one in receiver.received
    }
    assert told == {"d000": {"vendor": "Acme", "lines[].n": [1, 2]}, "d001": {}}
    services.close()


async def test_retries_have_the_same_ids_and_a_new_signature(receiver: Receiver) -> None:
    """After two failures the third try is the same event, signed for its own time."""
    receiver.says = lambda number: 503 if number < 3 else 200
    clock = FixedClock(now() - timedelta(seconds=100))
    services = await opened(None, policy(webhook(receiver.url)), clock)
    await decide(services, await submit(services))
    await release(services)
    carrier = courier(services)
    await carrier.round()
    await carrier.round()
    assert len(receiver.received) == 1  # not before its time
    for seconds in (10, 20):
        pass_time(services, timedelta(seconds=seconds))
        await carrier.round()
    assert len({one.id for one in receiver.received}) == 1
    assert len({one.body for one in receiver.received}) == 1
    assert len({one.headers["webhook-signature"] for one in receiver.received}) == 3
    assert len([one.verified() for one in receiver.received]) == 3
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.tries, delivery.said) == ("delivered", 3, None)
    services.close()


async def test_a_receiver_that_fails_for_a_day_is_given_up_and_can_be_replayed(
    receiver: Receiver,
) -> None:
    """After about a day the delivery is dead; replayed, it arrives under its old ids."""
    receiver.says = lambda _: 500
    services = await opened(None, policy(webhook(receiver.url)))
    await decide(services, await submit(services))
    await release(services)
    carrier, began = courier(services), services.clock.now()
    delivery = None
    while delivery is None or delivery.state is DeliveryState.WAITING:
        await carrier.round()
        (delivery,) = await outbox(services)
        pass_time(services, max(delivery.due_at - services.clock.now(), timedelta()))
    hours = (services.clock.now() - began) / timedelta(hours=1)
    assert 20 < hours < 28
    assert len(receiver.received) == TRIES
    assert (delivery.state, delivery.said, delivery.tries) == ("dead", "status_500", TRIES)
    pass_time(services, timedelta(days=40))
    await carrier.round()  # what is dead is not forgotten
    receiver.says = lambda _: 200
    count = await services.store.outbox.replay(
        "default", now=services.clock.now(), ids=(), channel="hook"
    )
    assert count == 1
    await carrier.round()
    assert {one.id for one in receiver.received} == {delivery.id}
    (delivery,) = await outbox(services)
    assert delivery.state == "delivered"
    services.close()


async def test_a_hanging_channel_holds_up_nobody(receiver: Receiver) -> None:
    """While one receiver never answers, decisions are made and another channel is told."""
    with receiving(0) as hanging:
        text = policy(webhook(hanging.url, "slow"), webhook(receiver.url, "quick"))
        services = await opened(None, text)
        await decide(services, await submit(services))
        await release(services)
        ending = asyncio.Event()
        serving = asyncio.create_task(courier(services, seconds=4.0).serve(ending.is_set))
        await until(lambda: bool(receiver.received and hanging.received))
        await decide(services, await submit(services, 1))
        await release(services)
        await until(lambda: len(receiver.received) == 2)
        assert len(hanging.received) == 1
        ending.set()
        await serving
        states = {(one.channel, one.state) for one in await outbox(services)}
        assert states == {("quick", "delivered"), ("slow", "waiting")}
    services.close()


async def test_a_sending_that_takes_too_long_is_tried_again() -> None:
    """A receiver that does not answer in time counts as failed."""
    with receiving(0) as hanging:
        services = await opened(None, policy(webhook(hanging.url)))
        await decide(services, await submit(services))
        await release(services)
        await courier(services, seconds=0.2).round()
        (delivery,) = await outbox(services)
        assert (delivery.state, delivery.said) == ("waiting", "timeout")
    services.close()


async def test_gone_disables_the_channel_until_a_replay(receiver: Receiver) -> None:
    """After 410 nothing is sent; what comes is kept as dead, and a replay begins anew."""
    receiver.says = lambda _: 410
    services = await opened(None, policy(webhook(receiver.url)))
    carrier = courier(services)
    for number in (0, 1):
        await decide(services, await submit(services, number))
        await release(services)
        await carrier.round()
    assert len(receiver.received) == 1
    assert [(one.state, one.said) for one in await outbox(services)] == [
        ("dead", "status_410"),
        ("dead", "disabled"),
    ]
    assert list(await services.store.outbox.closed("default")) == ["hook"]
    receiver.says = lambda _: 200
    await services.store.outbox.replay("default", now=services.clock.now(), ids=(), channel=None)
    await carrier.round()
    assert {one.state for one in await outbox(services)} == {"delivered"}
    services.close()


async def test_a_channel_that_leaves_the_policy_is_told_nothing(receiver: Receiver) -> None:
    """What waited for it is dead, with its reason, and another channel of the policy is told."""
    services = await opened(None, policy(webhook(receiver.url, "old")))
    await decide(services, await submit(services))
    await release(services)
    carrier = courier(services)
    receiver.says = lambda _: 500
    await carrier.round()

    async def nobody() -> Notifications:
        return Notifications()

    carrier.notifications = nobody
    pass_time(services, timedelta(minutes=1))
    await carrier.round()
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.said) == ("dead", "no_such_channel")
    services.close()


async def test_a_callback_is_of_its_own_key_and_slice(receiver: Receiver) -> None:
    """Who submitted under another key, or for another slice, is told nothing of it."""
    mine = webhook(receiver.url, "mine", keys="[key1]")
    text = policy(mine, webhook(receiver.url, "bills", slices="[invoices]"))
    services = await opened(None, text)
    await decide(services, await submit(services, 0, submitted_by="key1"))
    await decide(services, await submit(services, 1, submitted_by="key2"), Action.REJECT)
    await release(services)
    await courier(services).round()
    (delivery,) = await outbox(services)
    assert (delivery.channel, delivery.notice.decision_id) == ("mine", "d000")
    services.close()


@pytest.mark.parametrize(
    ("secret", "said"), [(None, "no_secret"), ("whsec_", "bad_secret"), ("whsec_a", "bad_secret")]
)
async def test_without_its_secret_nothing_is_sent(
    secret: str | None, said: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unsigned request never leaves; the delivery waits for the secret."""
    if secret is None:
        monkeypatch.delenv("HOOK_SECRET")
    else:
        monkeypatch.setenv("HOOK_SECRET", secret)
    services = await opened(None, policy(webhook(receiver.url)))
    await decide(services, await submit(services))
    await release(services)
    await courier(services).round()
    assert receiver.received == []
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.said) == ("waiting", said)
    services.close()


async def test_two_couriers_deliver_once(tmp_path: Path, receiver: Receiver) -> None:
    """Of several processes at one store each delivery is taken by one."""
    services = await opened(tmp_path / "store.db", policy(webhook(receiver.url)))
    for number in range(10):
        await decide(services, await submit(services, number))
    await release(services)
    other = await opened(tmp_path / "store.db", policy(webhook(receiver.url)), services.clock)
    await asyncio.gather(courier(services).round(), courier(other).round())
    assert sorted(one.event["data"]["decision_id"] for one in receiver.received) == [
        f"d{number:03}" for number in range(10)
    ]
    other.close()
    services.close()


async def test_a_callback_keeps_to_its_pace(receiver: Receiver) -> None:
    """At two a minute the third callback waits until a place is free."""
    services = await opened(None, policy(webhook(receiver.url, at_most_per_minute=2)))
    for number in range(3):
        await decide(services, await submit(services, number))
    await release(services)
    carrier = courier(services)
    await carrier.round()
    assert len(receiver.received) == 2
    pass_time(services, timedelta(seconds=30))
    await carrier.round()
    assert len(receiver.received) == 3
    services.close()


async def test_an_agent_is_told_that_it_acted_on_something_wrong(receiver: Receiver) -> None:
    """A correction is signed, names the decision and both verdicts, and has no word of anybody."""
    services = await opened(None, policy(webhook(receiver.url, slices="[replies]")))
    decision_id = await submit(services, output="The secret word is plum.")
    await decide(services, decision_id)
    await release(services)
    answer = GivenAnswer(
        decision_id=decision_id,
        action=Action.REJECT,
        by="Kim",
        source=OutcomeSource.INCIDENT,
        comment="it was pear",
        id="reported",
    )
    await services.labeller.record("default", answer)
    await services.labeller.record("default", answer)
    await courier(services).round()
    decided, corrected = sorted(receiver.received, key=lambda one: one.event["type"], reverse=True)
    assert decided.event["type"] == "review.decided"
    event = corrected.verified()
    assert event["type"] == "decision.corrected"
    assert event["data"]["decision_id"] == decision_id
    assert event["data"]["link"] == f"https://review.example.com/decisions/{decision_id}"
    assert event["data"]["facts"] == {
        "was": "right", "now": "wrong", "source": "incident", "said_by": "person",
    }  # fmt: skip
    for word in (b"plum", b"pear", b"Kim"):
        assert word not in corrected.body
    services.close()


async def test_programs_that_ask_for_it_are_told_of_switches(receiver: Receiver) -> None:
    """A channel of one slice hears of its switch, of that of everything, and of no other's."""
    channel = webhook(receiver.url, slices="[replies]", events="[switched, tripped]")
    services = await opened(None, policy(channel))
    for scope, by in (("slice:replies", "guard"), ("slice:invoices", "ada"), ("global", "ada")):
        switch = Switch(
            workspace="default",
            scope=scope,
            on=True,
            reason="Why, in secret",
            by=by,
            changed_at=services.clock.now(),
        )
        await services.ledger.set_switch(switch)
    await courier(services).round()
    events = [one.verified() for one in receiver.received]
    told = {(one["type"], one["data"]["facts"]["scope"]) for one in events}
    assert told == {("guard.tripped", "slice:replies"), ("switch.changed", "global")}
    assert all(b"secret" not in one.body for one in receiver.received)
    services.close()
