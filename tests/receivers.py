"""A receiver of requests on a real socket: it notes what comes and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

SECRET = "whsec_c3VyZWxpbmUtdGVzdHMtc2lnbi13aXRoLXRoaXM="


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    def verified(self) -> dict[str, Any]:
        """Return the body after the public library has checked signature and time."""
        found: dict[str, Any] = Webhook(SECRET).verify(self.body, self.headers)
        return found

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """Answers each request with the status that `says` gives it; 0 never answers."""

    says: Callable[[int], int] = lambda _: 204
    location: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    received: list[Received] = field(default_factory=list)
    port: int = 0
    came: threading.Event = field(default_factory=threading.Event)
    ending: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def receiving(says: Callable[[int], int] | int = 204, **more: Any) -> Iterator[Receiver]:
    """Run a receiver; `says` is a status or gives one to the number of a request."""
    receiver = Receiver(says=says if callable(says) else lambda _: says, **more)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(self.path, headers, body))
            status = receiver.says(len(receiver.received))
            receiver.came.set()
            if status == 0:
                receiver.ending.wait(30)
                return
            self.send_response(status)
            if receiver.location:
                self.send_header("location", receiver.location)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(receiver.body)))
            self.end_headers()
            try:
                self.wfile.write(receiver.body)
            except OSError:
                return  # the sender has what it wants

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()
