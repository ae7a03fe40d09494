"""Carries what is in the outbox to its channels, each at its own pace (R10)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sureline.application.outbox.shown import shown_fields
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.notifiers import OpenNotifier, Parcel
from sureline.application.ports.outbox import Claiming, Delivery, DeliveryState, OutboxStore
from sureline.core.review.pacing import Pace, next_try
from sureline.core.values.notification import Channel, ChannelKind, Notice, Notifications
from sureline.errors import DeliveryFailed, MissingExtra

logger = logging.getLogger(__name__)

SPREAD_AT_ONCE = 500
MOST_GATHERED = 2000
MOST_CALLBACKS = 5
"""How many are sent side by side: a process that dies holding them delays no more than these."""
SEND_SECONDS = 15.0
"""How long one sending may take."""
MARGIN = timedelta(seconds=30)
KEPT = timedelta(days=30)
"""How long it is remembered what was delivered."""
TICK_SECONDS = 1.0
ENDING_SECONDS = 3.0
"""How long writing down how a sending went may take, once it is time to stop."""


@dataclass(slots=True, kw_only=True)
class Courier:
    """Delivers the outbox of one workspace.

    Any number of them may work on one store. What is delivered is delivered at least once: a
    process that dies between sending and writing it down sends again, under the same ids.
    `jitter` returns numbers in [0, 1).
    """

    store: OutboxStore
    ledger: Ledger
    notifications: Callable[[], Awaitable[Notifications]]
    open_notifier: OpenNotifier
    clock: Clock
    jitter: Callable[[], float]
    workspace: str
    send_seconds: float = SEND_SECONDS
    owner: str | None = None
    """The worker that does it; what it holds is due at once when it is found dead."""
    stopping: Callable[[], bool] = lambda: False
    ending: bool = False
    """No more is begun; what is under way is ended."""
    _pruned: datetime | None = field(default=None, init=False)

    async def round(self) -> None:
        """Deliver once what is due, on all channels side by side."""
        sending: dict[str, asyncio.Task[None]] = {}
        await self.begin(sending)
        await asyncio.gather(*sending.values())

    async def serve(self, stopping: Callable[[], bool]) -> None:
        """Deliver what becomes due until told to stop; a channel that hangs holds up no other.

        Raises StoreError; what was under way is due again later.
        """
        self.ending, self.stopping = False, stopping
        sending: dict[str, asyncio.Task[None]] = {}
        try:
            while not self.is_over:
                await self.begin(sending)
                await asyncio.sleep(TICK_SECONDS)
        finally:
            await self.end(sending, self.ending_seconds)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more may begin."""
        return self.ending or self.stopping()

    @property
    def ending_seconds(self) -> float:
        """Return how long ending takes at most: a sending that has just begun has its full time."""
        return self.send_seconds + ENDING_SECONDS

    async def begin(self, sending: dict[str, asyncio.Task[None]]) -> None:
        """Give new notices to their channels and begin with every idle one that has work.

        `sending` holds what is under way, by channel. Raises StoreError, also what ended a sending.
        """
        for name in [name for name, task in sending.items() if task.done()]:
            await sending.pop(name)
        now = self.clock.now()
        told = await self.notifications()
        closed = await self.store.closed(self.workspace)
        while await self._spread(told, now) == SPREAD_AT_ONCE:
            pass
        for name in await self.store.due(self.workspace, now):
            channel = told.channel(name)
            if channel is None or closed.get(name) == target_mark(channel):
                said = "no_such_channel" if channel is None else "disabled"
                await self.store.close_channel(self.workspace, name, now=now, said=said)
            elif name not in sending:
                sending[name] = asyncio.create_task(self._send_all(channel, told))
        if self._pruned is None or now - self._pruned >= timedelta(hours=1):
            await self.store.prune(self.workspace, now - KEPT)
            self._pruned = now

    async def end(self, sending: dict[str, asyncio.Task[None]], seconds: float) -> None:
        """Begin nothing, let what is under way end within so long, and cut off what does not."""
        self.ending = True
        if sending:
            await asyncio.wait(sending.values(), timeout=seconds)
        for task in sending.values():
            task.cancel()
        await asyncio.gather(*sending.values(), return_exceptions=True)

    async def _spread(self, told: Notifications, now: datetime) -> int:
        def plan(notice: Notice) -> Sequence[str]:
            return told.receivers(notice)

        return await self.store.spread(self.workspace, plan, now=now, limit=SPREAD_AT_ONCE)

    async def _send_all(self, channel: Channel, told: Notifications) -> None:
        """Send what is due on a channel, as far as its pace allows."""
        gathers = channel.kind is ChannelKind.MESSAGE
        most = MOST_GATHERED if gathers else MOST_CALLBACKS
        gap = timedelta(minutes=1) / channel.per_minute
        pace = Pace(gap=gap, burst=1 if gathers else channel.per_minute)
        while not self.is_over:
            now = self.clock.now()
            until = now + timedelta(seconds=self.send_seconds) + MARGIN
            how = Claiming(
                now=now, until=until, pace=pace, most=most, together=gathers, owner=self.owner
            )
            taken = await self.store.claim(self.workspace, channel.name, how)
            if taken and self.is_over:  # told to stop meanwhile: whoever is there does it now
                await self.store.give_back(self.workspace, taken, now=now)
                return
            if not taken:
                return
            parcels = [taken] if gathers else [[one] for one in taken]
            if not all(await asyncio.gather(*(self._send(channel, told, one) for one in parcels))):
                return

    async def _send(self, channel: Channel, told: Notifications, taken: Sequence[Delivery]) -> bool:
        """Send deliveries together and write down how it went; False if the channel is gone."""
        try:
            async with asyncio.timeout(self.send_seconds):
                parcel = Parcel(
                    deliveries=taken, page=told.page, shown=await self._shown(told, taken)
                )
                await self.open_notifier(channel, told).send(parcel)
        except TimeoutError:
            await self._failed(taken, "timeout")
        except DeliveryFailed as error:
            if error.gone:
                return await self._gone(channel, taken, error)
            await self._failed(taken, error.code, asked=error.seconds, again=not error.refused)
        except MissingExtra as error:
            logger.warning("channel %s: %s", channel.name, error.message)
            await self._failed(taken, "not_installed")
        except Exception as error:  # noqa: BLE001 - a channel's fault must not end the others
            logger.warning("channel %s: %s", channel.name, type(error).__name__)
            await self._failed(taken, "error")
        else:
            await self._finish(taken, DeliveryState.DELIVERED)
        return True

    async def _shown(
        self, told: Notifications, taken: Sequence[Delivery]
    ) -> dict[str, dict[str, object]]:
        """Return what may be shown; gathered messages only count."""
        if len(taken) != 1:
            return {}
        notice = taken[0].notice
        paths = told.fields.get(notice.slice_key, ())
        return {notice.id: await shown_fields(self.ledger, notice, paths)}

    async def _finish(self, taken: Sequence[Delivery], state: DeliveryState) -> None:
        """Write it down, many in one commit."""
        now = self.clock.now()
        await asyncio.gather(
            *(self.store.finish(self.workspace, one, now=now, state=state) for one in taken)
        )

    async def _failed(
        self, taken: Sequence[Delivery], code: str, *, asked: float = 0.0, again: bool = True
    ) -> None:
        """Try again later, or leave it to somebody who replays it."""
        now, jitter = self.clock.now(), self.jitter()

        async def put_off(one: Delivery) -> None:
            wait = next_try(one.tries, jitter, asked) if again else None
            state = DeliveryState.DEAD if wait is None else DeliveryState.WAITING
            due_at = now if wait is None else now + wait
            await self.store.finish(
                self.workspace, one, now=now, state=state, due_at=due_at, said=code
            )

        await asyncio.gather(*map(put_off, taken))

    async def _gone(
        self, channel: Channel, taken: Sequence[Delivery], error: DeliveryFailed
    ) -> bool:
        """Disable a channel whose receiver wants nothing any more."""
        await self._failed(taken, error.code)
        await self.store.close_channel(
            self.workspace,
            channel.name,
            now=self.clock.now(),
            said=error.code,
            mark=target_mark(channel),
        )
        return False


def target_mark(channel: Channel) -> str:
    """Return what a channel is disabled for: another target is another channel."""
    target = f"{channel.kind}:{channel.url}:{channel.address_variable}"
    return hashlib.sha256(target.encode()).hexdigest()[:16]
