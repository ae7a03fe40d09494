"""A server that speaks all wire formats, on a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import pytest

from tests.model_servers.asked import Asked
from tests.model_servers.steps import (
    CutOff,
    Endless,
    Fault,
    Never,
    Raw,
    Reset,
    Say,
    Slow,
    Step,
)
from tests.model_servers.wires import WIRES, Wire

Says = Callable[[Asked], "str | Step"]


class ModelServer:
    """Answers what `says` makes of a request; `script`ed steps come first.

    `asked` lists the requests that came, in order; `connections` counts the connections, and
    `most_at_once` is how many requests were under way at the same time.
    """

    def __init__(self, says: Says = lambda asked: "yes") -> None:
        self.says = says
        self.asked: list[Asked] = []
        self.connections = 0
        self.most_at_once = 0
        self._at_once = 0
        self.url = ""
        self._script: deque[Step] = deque()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def script(self, *steps: Step | str) -> None:
        """Do this with the next requests, one each."""
        self._script.extend(Say(step) if isinstance(step, str) else step for step in steps)

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Point the providers' variables here."""
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    @property
    def variables(self) -> dict[str, str]:
        """What the environment must hold for the providers to be found here."""
        return {
            "OPENAI_API_KEY": "key-of-a-test",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_API_KEY": "key-of-a-test",
            "ANTHROPIC_BASE_URL": self.url,
        }

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    async def _shut(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client hung up, or the test is over
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether the connection lives on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        path = head[0].split()[1].partition("?")[0]
        wire = next((one for one in WIRES if one.path == path), None)
        if wire is None:
            writer.write(_answer(404, {}, "text/plain", b"no such path"))
            return True
        asked = wire.read(json.loads(body), headers)
        self.asked.append(asked)
        step = self._script.popleft() if self._script else self.says(asked)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if isinstance(step, Never):
                await reader.read()  # until the client hangs up
                return False
            return await _do(Say(step) if isinstance(step, str) else step, wire, asked, writer)
        finally:
            self._at_once -= 1


async def _do(step: Step, wire: Wire, asked: Asked, writer: asyncio.StreamWriter) -> bool:
    """Do what a step says; tell whether the connection lives on."""
    if isinstance(step, Slow):
        await asyncio.sleep(step.seconds)
        step = step.then
    if isinstance(step, Say | Fault | Raw):
        writer.write(_whole(step, wire, asked))
        await writer.drain()
        return True
    match step:
        case Reset():
            writer.transport.abort()
        case CutOff():
            head, _, body = _whole(Say("yes"), wire, asked).partition(b"\r\n\r\n")
            writer.write(head + b"\r\n\r\n" + body[: step.bytes])
        case Endless():
            await _pour(step.bytes, writer)
    await writer.drain()
    return False


def _whole(step: Say | Fault | Raw, wire: Wire, asked: Asked) -> bytes:
    if isinstance(step, Raw):
        body = step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
        return _answer(step.status, step.headers, step.kind, body)
    if isinstance(step, Fault):
        return _json_answer(step.status, step.headers, wire.error(step.status, step.text))
    return _json_answer(200, step.headers, wire.write(step, asked.model))


async def _pour(most: int | None, writer: asyncio.StreamWriter) -> None:
    """Send a JSON string that goes on and on."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b'{"id": "')
    block, sent = b"x" * 65_536, 0
    while most is None or sent < most:
        writer.write(block)
        await writer.drain()
        sent += len(block)


def _json_answer(status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
    return _answer(status, headers, "application/json", json.dumps(body).encode())


def _answer(status: int, headers: Mapping[str, str], kind: str, body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} Answer", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
