"""Run one command's work on an open store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sureline.bootstrap import Services, open_services

Result = TypeVar("Result")


def on_store(
    work: Callable[[Services], Awaitable[Result]],
    *,
    store: str | None,
    workspace: str,
) -> Result:
    """Open the store, do the work and let go of the store, whatever happens."""

    async def opened() -> Result:
        async with open_services(store, workspace=workspace) as services:
            return await work(services)

    return asyncio.run(opened())
