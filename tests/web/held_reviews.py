"""A queue in which work takes as long as the test wants, and what comes of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx

from sureline.application.ports.reviews import Step
from sureline.bootstrap import Services
from sureline.core.values.review import Review
from tests.web.chatting import Chat


@dataclass
class HeldReviews:
    """A queue whose changes wait until the test lets them go."""

    inner: Any
    go: threading.Event = field(default_factory=threading.Event)
    changes: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def change(self, workspace: str, review_id: str, step: Step) -> Review:
        self.changes += 1
        await asyncio.to_thread(self.go.wait, 20)
        changed: Review = await self.inner.change(workspace, review_id, step)
        return changed


def held(into: list[HeldReviews]) -> Callable[[Services], Services]:
    """Return a change of the services that holds up what is decided."""

    def change(services: Services) -> Services:
        into.append(HeldReviews(services.desk.store))
        return replace(services, desk=replace(services.desk, store=into[0]))

    return change


def until_answered(chat: Chat, said: Any) -> httpx.Response:
    """Send again until it is no longer in work."""
    for _ in range(1000):
        last = chat.say(said, as_id="msg_1")
        if last.status_code != 202:
            return last
    raise AssertionError("it stays in work")


def verdicts(chat: Chat, item: dict[str, Any]) -> list[str]:
    """Return what is recorded of an item once its verdict can no longer be taken back."""
    chat.served.clock.advance(timedelta(seconds=11))
    services = chat.served.services
    asyncio.run(services.desk.settle())
    outcomes = asyncio.run(services.ledger.outcomes("default", item["review_id"]))
    return [one.action.value for one in outcomes]
