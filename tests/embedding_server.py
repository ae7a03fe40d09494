"""A local server that speaks OpenAI's embeddings format, for tests over real HTTP."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import pytest

from sureline.adapters.embedders.hashing import HashingEmbedder

DIMENSION = 64
MODEL = "openai:text-embedding-test"

Body = dict[str, Any]
Step = Callable[[Body], "Body | Reply | None"]


class Reply:
    """An answer of any kind: status, headers and the body as it is."""

    def __init__(
        self,
        status: int,
        body: bytes | Body = b"",
        *,
        headers: dict[str, str] | None = None,
        after: threading.Event | None = None,
    ) -> None:
        self.status = status
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = headers or {}
        self.after = after


class EmbeddingServer:
    """Answers with hashed n-grams; `script`ed steps come first, one for each request.

    A step maps the proper answer to another one: a body, a Reply, or None to hang up.
    `answers` is the model id in every proper answer; `asked` lists the texts of each request.
    """

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.answers = MODEL.partition(":")[2]
        self.asked: list[list[str]] = []
        self.embedder = HashingEmbedder(dimension)
        self._script: deque[Step] = deque()
        self._over = threading.Event()

    def script(self, *steps: Step) -> None:
        self._script.extend(steps)

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    @property
    def variables(self) -> dict[str, str]:
        port = self._server.server_address[1]
        return {
            "OPENAI_API_KEY": "key-of-a-test",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        }

    def proper(self, texts: Sequence[str]) -> Body:
        rows = self.embedder._rows(texts)
        # Not of unit length: what a provider sends need not be.
        data = [
            {"object": "embedding", "index": at, "embedding": [float(3 * x) for x in row]}
            for at, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        return {"object": "list", "data": data, "model": self.answers, "usage": usage}

    def never(self, _: Body) -> Reply:
        """Stay silent until the test is over."""
        return Reply(500, after=self._over)

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = json.loads(self.rfile.read(length))
                assert self.path == "/v1/embeddings"
                outer._answer(self, asked)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler, asked: Body) -> None:
        self.asked.append(asked["input"])
        found: Body | Reply | None = self.proper(asked["input"])
        if self._script:
            found = self._script.popleft()(found)  # type: ignore[arg-type]
        if found is None:
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        reply = found if isinstance(found, Reply) else Reply(200, found)
        if reply.after is not None:
            reply.after.wait()
            handler.close_connection = True
            return
        handler.send_response(reply.status)
        headers = {"Content-Type": "application/json", **reply.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        handler.wfile.write(reply.body)


def rows_of(body: Body) -> list[Body]:
    """Return the rows of a proper answer."""
    found: list[Body] = body["data"]
    return found
