"""How a supervised mission stands: read about once a second, with what is new in its timeline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sureline.application.mission.supervised import Supervised
from sureline.application.mission.told_timeline import Tell, ToldTimeline
from sureline.core.values.mission import Mission
from sureline.errors import OtherSchema, StoreError

LOOK_SECONDS = 0.1
"""How often triggers and what is running are looked at."""
STORE_SECONDS = 1.0
"""How often the mission is read again: others suspend, resume and end it."""
T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Standing:
    """A mission as it was read last; goes on while the store is away."""

    mission: Mission
    missions: Supervised
    timeline: ToldTimeline
    tell: Tell
    elapsed: Callable[[], float]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _read_at: float = float("-inf")
    _away: bool = False

    async def look(self, *, anew: bool = False) -> Mission:
        """Return the mission, read again where that is due, and tell what is new."""
        now = self.elapsed()
        if anew or now >= self._read_at + STORE_SECONDS:
            self._read_at = now
            await self.at_store(self._read())
        return self.mission

    async def _read(self) -> None:
        await self.missions.tick()
        mission = await self.missions.mission(self.mission.id)
        if self.timeline.has_news(mission):
            self.timeline.tell(mission, await self.missions.events(mission.id))
        self.mission = mission

    async def at_store(self, work: Awaitable[T]) -> T | None:
        """Do it, or return None while the store is away, which is told once.

        Raises OtherSchema: a store of another version does not come back by waiting.
        """
        try:
            found = await work
        except OtherSchema:
            raise
        except StoreError as error:
            if not self._away:
                self.say("store_away", why=error.message)
            self._away = True
            return None
        self._away = False
        return found

    async def unless_stopped(self, work: Awaitable[object]) -> None:
        """Do it and tell what happens meanwhile; it is cancelled when we are told to stop."""
        task = asyncio.ensure_future(work)
        try:
            while not (task.done() or self.stopping.is_set()):
                await self.pause(task)
                await self.look()
        finally:
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.result()

    async def pause(self, *also: asyncio.Future[Any]) -> None:
        """Wait a moment, or until we are told to stop, or what is waited for is done."""
        told = asyncio.ensure_future(self.stopping.wait())
        await asyncio.wait({told, *also}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()

    def say(self, event: str, **facts: Any) -> None:
        """Tell what is no row of the timeline."""
        self.tell({"event": event, "mission_id": self.mission.id, **facts})
