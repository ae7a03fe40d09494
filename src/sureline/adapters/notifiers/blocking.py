"""Run what blocks, and may block for ever, on a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def beside(work: Callable[[], T], *, name: str) -> T:
    """Return what `work` returns, done on a daemon thread of its own.

    Whoever stops waiting leaves the thread behind; unlike a pool's, it does not hold up the end
    of the loop or of the program.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
