"""Where the processor time of a decision goes inside a gate process, measured."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scale_constants import CALLERS, decide_all, open_gate, receipts

import sureline.application.decide as deciding
import sureline.application.door as entering
import sureline.application.measure as measuring
import sureline.gate as gating

PARTS: tuple[tuple[str, Any, str], ...] = (
    ("read the proposal", gating, "read_proposal"),
    ("digests and keys", entering, "identify"),
    ("checks of the output", measuring, "verify"),
    ("compose the score", deciding, "assess"),
    ("route", deciding, "route"),
    ("make the decision", deciding, "assemble"),
    ("encode, digests of the record", deciding, "record_of"),
)
"""What is timed: a name, a module, and what it calls there; none of it waits for anything."""


@contextmanager
def _timed(spent: dict[str, float]) -> Iterator[None]:
    kept = [(module, name, getattr(module, name)) for _, module, name in PARTS]
    for (title, module, name), (_, _, usual) in zip(PARTS, kept, strict=True):
        setattr(module, name, _timing(title, usual, spent))
    try:
        yield
    finally:
        for module, name, usual in kept:
            setattr(module, name, usual)


def _timing(title: str, usual: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    spent[title] = 0.0

    def call(*given: Any, **named: Any) -> Any:
        start = time.thread_time()
        try:
            return usual(*given, **named)
        finally:
            spent[title] += time.thread_time() - start

    return call


def parts(store: str, folder: Path, count: int) -> dict[str, float]:
    """Return the seconds a decision of each part, of the event loop's rest, and of each thread."""
    spent: dict[str, float] = {}

    async def run() -> tuple[float, dict[str, float]]:
        async with open_gate(store, folder, "alone") as gate:
            await decide_all(gate, receipts(200, "warm"), CALLERS)
            proposals = receipts(count, "count")
            before, own = _threads(), time.thread_time()
            with _timed(spent):
                await decide_all(gate, proposals, CALLERS)
            after = _threads()
            return time.thread_time() - own, {
                name: after[name] - before.get(name, 0.0) for name in after
            }

    loop, threads = asyncio.run(run())
    spent["event loop, prior cases, policy, waiting"] = loop - sum(spent.values())
    for name, seconds in threads.items():
        spent[f"thread {name}"] = seconds
    return {name: seconds / count for name, seconds in spent.items()}


def _threads() -> dict[str, float]:
    """Return the processor seconds of the store's threads, by name."""
    found: dict[str, float] = {}
    for one in threading.enumerate():
        if one.name.startswith("sureline") and one.ident is not None:
            clock = time.pthread_getcpuclockid(one.ident)
            found[one.name] = found.get(one.name, 0.0) + time.clock_gettime(clock)
    return found
