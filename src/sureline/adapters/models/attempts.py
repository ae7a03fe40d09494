"""Ask a model, again after a fault of the transport, within one time limit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sureline.adapters.models.answer import reply_of
from sureline.adapters.models.faults import Fault, fault_of
from sureline.adapters.models.question import question_of
from sureline.application.ports.models import Asking, Ended, Prompt, Reply
from sureline.errors import ModelFailed

if TYPE_CHECKING:
    from pydantic_ai.models import Model

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before a further try: doubling, halved at most by chance.

    `jitter` gives numbers in [0, 1); `sleep` waits. Both are here so that tests need not wait.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random

    def pause(self, retries: int, wait: float | None) -> float:
        """Return the seconds to wait after `retries` further tries; `wait` is the provider's."""
        if wait is not None:
            return wait
        doubled: float = FIRST_PAUSE * 2**retries
        return min(LONGEST_PAUSE, doubled) * (1 - self.jitter() / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Asks a model up to `1 + retries` times."""

    retries: int
    backoff: Backoff
    monotonic: Callable[[], float]

    async def ask(self, model: Model, prompt: Prompt, asking: Asking, *, until: float) -> Reply:
        """Return the reply; `until` is when the time is up, on the running loop's clock.

        A pause that would end after that is not begun. Raises ModelFailed.
        """
        loop, started, retries = asyncio.get_running_loop(), self.monotonic(), 0
        while True:
            found = await _once(model, prompt, asking, seconds=max(until - loop.time(), 0.001))
            if isinstance(found, Reply):
                seconds = self.monotonic() - started
                return replace(found, usage=replace(found.usage, seconds=seconds, retries=retries))
            pause = self.backoff.pause(retries, found.wait)
            if not found.again or retries == self.retries or loop.time() + pause >= until:
                raise found.as_error(retries)
            await self.backoff.sleep(pause)
            retries += 1


async def _once(model: Model, prompt: Prompt, asking: Asking, *, seconds: float) -> Reply | Fault:
    """Return a reply or a fault, so that no provider's words travel along with an exception."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import ContentFilterError

    try:
        question = question_of(model, prompt, asking, seconds=seconds)
        response = await model_request(
            model,
            question.messages,
            model_settings=question.settings,
            model_request_parameters=question.parameters,
        )
        return reply_of(response, asking.model)
    except ModelFailed as error:
        return Fault(reason=error.reason, detail=error.detail)
    except ContentFilterError:
        return Reply(text="", model=asking.model, ended=Ended.REFUSED)
    except Exception as error:  # noqa: BLE001 - a response of any form may break a library in any way
        return fault_of(error)
