"""Messages to people: gathered, at their own pace, and about what still waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from sureline.application.outbox.courier import Courier
from sureline.application.ports.notifiers import Parcel
from sureline.bootstrap import Services
from sureline.core.review.message import message
from sureline.core.values.notification import Channel, Notifications
from sureline.core.values.outcome import Action
from sureline.errors import DeliveryFailed
from tests.outbox.told import courier, decide, opened, outbox, pass_time, policy, release, submit
from tests.receivers import Receiver, receiving

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # apprise imports it

TEAM = "{name: team, kind: message, address_from: TEAM_ADDRESS}"


@dataclass
class Heard:
    """A channel that takes texts, unless it is told to fail."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    fails: bool = False

    def __call__(self, channel: Channel, told: Notifications) -> Heard:
        return self

    async def send(self, parcel: Parcel) -> None:
        if self.fails:
            raise DeliveryFailed("not_taken", "the service did not take the message")
        told = [one.notice for one in parcel.deliveries]
        text = message(told, page=parcel.page, shown=parcel.shown.get(told[0].id))
        self.texts.append((text.title, text.body))


def carrying(services: Services, heard: Heard) -> Courier:
    carrier = courier(services)
    carrier.open_notifier = heard
    return carrier


async def test_many_items_are_one_message() -> None:
    """The first item is told at once; what comes within the half minute after it, together."""
    services, heard = await opened(None, policy(TEAM)), Heard()
    carrier = carrying(services, heard)
    await submit(services, 0)
    await carrier.round()
    assert heard.texts == [
        (
            "1 item waits in replies",
            "1 item waits in replies\nhttps://review.example.com/reviews/d000",
        )
    ]
    for number in range(1, 13):
        await submit(services, number)
        await carrier.round()
    for number in range(13, 15):
        await submit(services, number, slice_key="invoices", output={})
    assert len(heard.texts) == 1
    pass_time(services, timedelta(seconds=30))
    await carrier.round()
    assert heard.texts[1:] == [
        (
            "14 things happened in the review queue",
            "2 items wait in invoices\n12 items wait in replies\nhttps://review.example.com/",
        )
    ]
    assert {one.state for one in await outbox(services)} == {"delivered"}
    services.close()


async def test_nobody_is_called_to_what_is_over() -> None:
    """An item that was decided before anybody was told of it is not told."""
    services, heard = await opened(None, policy(TEAM)), Heard(fails=True)
    carrier = carrying(services, heard)
    await submit(services, 0)
    await submit(services, 1)
    await carrier.round()
    await decide(services, "d000")
    heard.fails = False
    pass_time(services, timedelta(minutes=1))
    await submit(services, 2)
    await decide(services, "d002")
    await carrier.round()
    assert [title for title, _ in heard.texts] == ["1 item waits in replies"]
    states = {one.notice.review_id: one.state for one in await outbox(services)}
    assert states == {"d000": "moot", "d001": "delivered"}
    services.close()


async def test_what_nobody_takes_is_told_as_it_goes_up_and_expires() -> None:
    """A step up and an expiry are told, each once."""
    services, heard = await opened(None, policy(TEAM)), Heard()
    carrier = carrying(services, heard)
    await submit(services)
    for _ in range(3):
        for _ in range(3):
            await services.desk.settle()
            await carrier.round()
        pass_time(services, timedelta(days=1, seconds=1))
    assert [title for title, _ in heard.texts] == [
        "1 item waits in replies",
        "1 item of replies went a step up: nobody had decided in time",
        "1 item of replies expired: nobody decided, and nothing was approved",
    ]
    services.close()


async def test_a_verdict_that_was_taken_back_is_never_told() -> None:
    """Only what was released is told: of approve, undo and reject it is the rejection."""
    text = policy("{name: team, kind: message, address_from: A, events: [decided]}")
    services, heard = await opened(None, text), Heard()
    carrier = carrying(services, heard)
    await submit(services)
    await decide(services, "d000")
    await services.desk.undo("d000", "ada")
    await decide(services, "d000", Action.REJECT)
    await release(services)
    await carrier.round()
    assert [title for title, _ in heard.texts] == ["1 item of replies was decided: 1 reject"]
    services.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(200) as found:
        yield found


async def test_the_library_s_own_channels(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text goes through apprise; the address stands in the environment alone."""
    monkeypatch.setenv("TEAM_ADDRESS", f"json://127.0.0.1:{receiver.port}/")
    services = await opened(None, policy(TEAM))
    await submit(services)
    await courier(services).round()
    (request,) = receiver.received
    assert request.event["title"] == "1 item waits in replies"
    assert request.event["message"].endswith("https://review.example.com/reviews/d000")
    assert [one.state for one in await outbox(services)] == ["delivered"]
    services.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (None, "no_address"),
        ("nothing", "bad_address"),
        ("json://10.0.0.1/", "refused_target"),
        ("json://[::ffff:10.0.0.1]/", "refused_target"),
        ("json://localhost:1/", "refused_target"),
        ("mailto://a:b@example.com?smtp=10.0.0.1", "refused_target"),
    ],
)
async def test_an_address_that_cannot_be_used(
    address: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent, and the outbox says why without saying the address."""
    if address is not None:
        monkeypatch.setenv("TEAM_ADDRESS", address)
    services = await opened(None, policy(TEAM))
    await submit(services)
    await courier(services).round()
    (delivery,) = await outbox(services)
    assert (delivery.state, delivery.said) == ("waiting", said)
    services.close()


async def test_a_service_that_hangs_is_not_called_a_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one sending has not come back, the next ones fail at once."""
    with receiving(0) as hanging:
        monkeypatch.setenv("TEAM_ADDRESS", f"json://127.0.0.1:{hanging.port}/?cto=30&rto=30")
        services = await opened(None, policy(TEAM))
        await submit(services)
        carrier = courier(services, seconds=0.5)
        for said in ("timeout", "still_busy"):
            await carrier.round()
            (delivery,) = await outbox(services)
            assert delivery.said == said
            pass_time(services, timedelta(minutes=5))
        assert len(hanging.received) == 1
    services.close()
