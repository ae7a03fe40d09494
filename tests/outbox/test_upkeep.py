"""What keeps the outbox going: its thread, faults of a channel, forgetting what is over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from sureline.adapters.delivering import DeliveryThread
from sureline.adapters.storage.statement import Statement
from sureline.application.ports.notifiers import Parcel
from sureline.bootstrap import delivery_thread
from sureline.core.values.notification import Channel, Notifications
from sureline.errors import MissingExtra, StoreUnavailable
from tests.outbox.told import (
    courier,
    decide,
    opened,
    outbox,
    pass_time,
    policy,
    release,
    submit,
    webhook,
)
from tests.receivers import SECRET, receiving


def test_a_server_s_thread_delivers_until_it_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is released is told without anybody asking for it, and leaving ends the thread."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    with receiving() as receiver:
        services = asyncio.run(opened(None, policy(webhook(receiver.url))))

        async def happen() -> None:
            await decide(services, await submit(services))
            await release(services)

        with delivery_thread(services):
            asyncio.run(happen())
            assert receiver.came.wait(30)
        names = {thread.name for thread in threading.enumerate()}
        assert "sureline-outbox" not in names
        assert len(receiver.received) == 1
        services.close()


def test_an_error_of_the_store_does_not_end_the_thread() -> None:
    """A store that cannot be used now is tried again a tick later."""
    begun, again = [], threading.Event()

    async def serve(stopping: Callable[[], bool]) -> None:
        begun.append(stopping())
        if len(begun) == 1:
            raise StoreUnavailable("the disk is away")
        again.set()

    with DeliveryThread(serve, tick=0.01):
        assert again.wait(30)
    assert begun[:2] == [False, False]


class Broken:
    """A channel that fails in a way nobody thought of."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def send(self, parcel: Parcel) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [(MissingExtra("no extra"), "not_installed"), (RuntimeError("quoting the payload"), "error")],
    ids=["not installed", "a fault of its own"],
)
async def test_a_broken_channel_stops_no_other(error: Exception, said: str) -> None:
    """Its delivery waits with a code and none of the error's words; the other one arrives."""

    class Fine:
        async def send(self, parcel: Parcel) -> None:
            return

    def open_notifier(channel: Channel, told: Notifications) -> Broken | Fine:
        return Broken(error) if channel.name == "bad" else Fine()

    hooks = (webhook("https://x.example/", name) for name in ("bad", "good"))
    services = await opened(None, policy(*hooks))
    await decide(services, await submit(services))
    await release(services)
    carrier = courier(services)
    carrier.open_notifier = open_notifier
    await carrier.round()
    found = {one.channel: (one.state, one.said) for one in await outbox(services)}
    assert found == {"bad": ("waiting", said), "good": ("delivered", None)}
    services.close()


async def test_what_was_delivered_is_forgotten_after_a_month() -> None:
    """Neither delivery nor notice is kept; what was told to nobody goes as well."""

    class Fine:
        async def send(self, parcel: Parcel) -> None:
            return

    services = await opened(None, policy(webhook("https://x.example/")))
    await decide(services, await submit(services))
    await release(services)
    carrier = courier(services)
    carrier.open_notifier = lambda channel, told: Fine()
    await carrier.round()
    pass_time(services, timedelta(days=29))
    await carrier.round()
    assert len(await outbox(services)) == 1
    pass_time(services, timedelta(days=2))
    await carrier.round()
    assert await outbox(services) == []
    with services.store.database.snapshot() as each:
        count = next(iter(each(Statement(text("SELECT count(*) FROM notices")), ())))
    assert count == (0,)
    services.close()


async def test_a_policy_without_channels_tells_nobody() -> None:
    """What happened before there was a channel makes no deliveries."""
    services = await opened(None, policy())
    await submit(services)
    carrier = courier(services)
    await carrier.round()
    assert await outbox(services) == []
    services.close()
