"""A line to a database server that can be slow, cut or silent: a proxy on a real socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

_BLOCK = 65536


class CutLine:
    """Passes bytes on to the server at `path`, a Unix socket, as long as it is told to.

    `delay` is in seconds, for each message to the server. With `cut_at` the line is cut when
    certain bytes go to the server: before they arrive, or once they have.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.delay = 0.0
        self.connections = 0
        self._is_up = True
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cut_at: tuple[bytes, bool] | None = None

    async def begin(self) -> int:
        """Listen; return the port."""
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def end(self) -> None:
        """Close everything."""
        self._server.close()
        await self.cut()
        self._flowing.set()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def cut(self) -> None:
        """Close all connections; a new one is closed as soon as it is there."""
        self._cut()

    def _cut(self) -> None:
        self._is_up = False
        for writer in list(self._open):
            writer.transport.abort()

    async def silence(self) -> None:
        """Keep all connections and pass nothing on."""
        self._flowing.clear()

    async def mend(self) -> None:
        """Be a good line again; what was held back in silence arrives now."""
        self._is_up = True
        self._flowing.set()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_up:
            writer.transport.abort()
            return
        self.connections += 1
        there, back = await asyncio.open_unix_connection(self._path)
        self._open |= {writer, back}
        for one in (self._pump(reader, back, to_server=True), self._pump(there, writer)):
            task = asyncio.ensure_future(one)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_server: bool = False
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_BLOCK):
                if to_server and self.delay:
                    await asyncio.sleep(self.delay)
                await self._flowing.wait()
                arrives = self._arrives(data) if to_server else None
                if arrives is not False:
                    writer.write(data)
                    await writer.drain()
                if arrives is not None:
                    self._cut()
        self._open.discard(writer)
        with suppress(OSError):
            writer.close()

    def _arrives(self, data: bytes) -> bool | None:
        """Tell whether these are the last bytes that arrive, None if more may."""
        if self.cut_at is None or self.cut_at[0] not in data:
            return None
        arrives, self.cut_at = self.cut_at[1], None
        return arrives


class Line:
    """A `CutLine` with a loop of its own on a thread; `url` names the store behind it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        folder = parse_qs(parts.query)["host"][0]
        self.line = CutLine(f"{folder}/.s.PGSQL.5432")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        port = self._do(self.line.begin())
        user = parts.username or "postgres"
        self.url = f"postgresql://{user}:@127.0.0.1:{port}{parts.path}?sslmode=disable"

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        self._do(self.line.cut())

    def silence(self) -> None:
        """Pass nothing on."""
        self._do(self.line.silence())

    def mend(self) -> None:
        """Be a good line again."""
        self._do(self.line.mend())

    def close(self) -> None:
        """Stop the thread."""
        self._do(self.line.end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


@contextmanager
def line_to(url: str) -> Iterator[Line]:
    """Put a line before a database; `line.url` leads through it."""
    line = Line(url)
    try:
        yield line
    finally:
        line.close()
