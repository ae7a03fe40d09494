"""Told to stop, a courier begins nothing, finishes what is under way, and gives the rest back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sureline.application.outbox.courier import Courier
from sureline.application.ports.notifiers import Notifier, Parcel
from sureline.application.ports.outbox import Claiming, Delivery
from sureline.bootstrap import Services, delivery_thread
from tests.outbox.told import courier, opened, outbox, policy, submit, webhook
from tests.receivers import SECRET

HOOK = policy(webhook("https://hook.example.com", events="[opened]"))


@dataclass
class Slow:
    """A channel whose sending goes on until it is let go."""

    begun: asyncio.Event
    may_end: asyncio.Event
    sent: int = 0

    async def send(self, parcel: Parcel) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.sent += 1


def slow_courier(services: Services) -> tuple[Courier, Slow]:
    """Return a courier whose only channel is slow."""
    found, channel = courier(services), Slow(asyncio.Event(), asyncio.Event())

    def opens(*_: Any) -> Notifier:
        return channel

    found.open_notifier = opens
    return found, channel


async def test_a_sending_under_way_has_its_full_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not cut off, is written down as delivered, and nothing else begins meanwhile."""
    services = await opened(None, HOOK)
    await submit(services)
    carrier, channel = slow_courier(services)
    waited: list[float] = []
    wait = asyncio.wait

    async def waits(tasks: Any, *, timeout: float) -> Any:  # noqa: ASYNC109
        waited.append(timeout)
        await submit(services, 1)  # while it stops, more becomes due
        channel.may_end.set()
        return await wait(tasks, timeout=timeout)

    stopping = asyncio.Event()
    serving = asyncio.create_task(carrier.serve(stopping.is_set))
    await channel.begun.wait()
    monkeypatch.setattr("sureline.application.outbox.courier.asyncio.wait", waits)
    stopping.set()
    await serving
    assert waited[0] > carrier.send_seconds
    assert channel.sent == 1
    assert [(one.state, one.tries) for one in await outbox(services)] == [("delivered", 1)]
    services.close()


async def test_what_was_claimed_and_not_begun_is_given_back(tmp_path: Path) -> None:
    """The stop comes while it is being claimed: it is due at once, and it was no try."""
    services = await opened(tmp_path / "store.db", HOOK)
    for number in range(3):
        await submit(services, number)
    carrier, channel = slow_courier(services)
    claim = services.store.outbox.claim

    async def claims(workspace: str, name: str, how: Claiming) -> Sequence[Delivery]:
        taken = await claim(workspace, name, how)
        carrier.ending = True
        return taken

    carrier.store = Claims(services.store.outbox, claims)  # type: ignore[assignment]
    await carrier.round()
    assert not channel.begun.is_set()
    now = services.clock.now()
    assert [(one.state, one.tries) for one in await outbox(services)] == [("waiting", 0)] * 3
    assert all(one.due_at <= now for one in await outbox(services))
    services.close()


async def test_a_claim_of_another_is_not_given_back() -> None:
    """Who comes late with giving back takes nothing from whoever has it since."""
    services = await opened(None, HOOK)
    await submit(services)
    carrier, channel = slow_courier(services)
    channel.may_end.set()
    await carrier.round()
    (delivery,) = await outbox(services)
    await services.store.outbox.give_back("default", [delivery], now=services.clock.now())
    assert await outbox(services) == [delivery]
    services.close()


@dataclass
class Claims:
    """An outbox with another way to claim."""

    store: Any
    claim: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


async def test_the_thread_waits_longer_than_a_sending_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`serve` and `worker` on a file leave no sending half done either."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    services = await opened(None, HOOK)
    assert delivery_thread(services).stop_seconds > courier(services).ending_seconds > 15
    services.close()
