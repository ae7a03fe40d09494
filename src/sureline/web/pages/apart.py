"""Read what may be long beside the server's loop, so that decisions go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def apart(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a reading of milliseconds on a thread; `ServerContext.off_loop` is for seconds."""
    return await asyncio.to_thread(lambda: asyncio.run(work()))
