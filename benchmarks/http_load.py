"""A small HTTP client that takes little of the processor, and loops that load a gate with it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = tuple[int, Any]


class Line:
    """One connection that is kept alive; one request at a time."""

    def __init__(self, port: int, secret: str) -> None:
        self._port, self._secret = port, secret
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """Send a request and return status and JSON of the answer. Raises OSError."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = json.dumps(body or {}).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nhost: gate\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {self._secret}\r\ncontent-length: {len(content)}\r\n\r\n"
            "".encode()
            + content
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].split("\r\n")[0])
        said = await reader.readexactly(length)
        return int(head.split(" ", 2)[1]), json.loads(said)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._streams is not None:
            self._streams[1].close()


@dataclass(slots=True)
class Tally:
    """What happened: how often, and how many milliseconds decisions took, by minute."""

    counts: dict[str, int] = field(default_factory=dict)
    by_minute: dict[int, list[float]] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def add(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def took(self, seconds: float) -> None:
        minute = int((time.perf_counter() - self.started) // 60)
        self.by_minute.setdefault(minute, []).append(1000 * seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Agents that decide and use what was approved, and reviewers that work the queue off."""

    port: int
    agent: str
    reviewer: str
    proposal: Callable[[int], Mapping[str, Any]]
    agents: int = 32
    reviewers: int = 2

    async def run(self, seconds: float, *, per_second: float | None, first: int) -> Tally:
        """Load the gate for some seconds, as fast as it goes or at a rate; return what came."""
        told, end = Tally(), time.perf_counter() + seconds
        start, numbers = time.perf_counter(), iter(range(first, 2**62))

        async def agent(line: Line) -> None:
            while time.perf_counter() < end:
                number = next(numbers)
                if per_second is not None:
                    due = start + (number - first) / per_second
                    if due >= end:
                        return
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                await self._decide(line, number, told)

        async def reviewer(line: Line) -> None:
            while time.perf_counter() < end:
                await self._review(line, told)

        loops = [self._with_line(self.agent, agent, told) for _ in range(self.agents)]
        loops += [self._with_line(self.reviewer, reviewer, told) for _ in range(self.reviewers)]
        await asyncio.gather(*loops)
        return told

    async def _with_line(
        self, secret: str, work: Callable[[Line], Awaitable[None]], told: Tally
    ) -> None:
        line = Line(self.port, secret)
        try:
            await work(line)
        except (OSError, asyncio.IncompleteReadError):
            told.add("line broken")
        finally:
            await line.close()

    async def _decide(self, line: Line, number: int, told: Tally) -> None:
        before = time.perf_counter()
        status, made = await line.call("POST", "/v1/decisions", self.proposal(number))
        told.took(time.perf_counter() - before)
        if status != 201:
            told.add(f"decision refused {status}")
            return
        told.add("decided")
        if made["approved"]:
            status, _ = await line.call("POST", f"/v1/decisions/{made['id']}/consume")
            told.add("used" if status == 200 else f"use refused {status}")

    async def _review(self, line: Line, told: Tally) -> None:
        _, found = await line.call("POST", "/v1/reviews/next")
        item = found.get("review")
        if item is None:
            await asyncio.sleep(0.2)
            return
        given = {"action": "approve", "digest": item["digest"]}
        status, _ = await line.call("POST", f"/v1/reviews/{item['id']}/decide", given)
        told.add("reviewed" if status == 200 else f"verdict refused {status}")
