"""A receiver of webhooks for benchmarks: it counts what comes, by the event's id."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Sink:
    """Listens on a free port of this machine while entered."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        """How often each event came."""
        self.contents: dict[str, set[str]] = {}
        """What each event said, without its moment; more than one would be a fault."""
        self._decisions: dict[str, str] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                said = json.loads(self.rfile.read(int(self.headers["content-length"])))
                sink.take(said)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    def by_decision(self) -> dict[str, set[str]]:
        """Return the ids of the events that came of each decision."""
        found: dict[str, set[str]] = {}
        with self._lock:
            for event, decision in self._decisions.items():
                found.setdefault(decision, set()).add(event)
        return found

    def decisions(self) -> set[str]:
        """Return the decisions of which something came."""
        with self._lock:
            return set(self._decisions.values())

    def take(self, said: dict[str, Any]) -> None:
        """Count one event."""
        content = json.dumps([said["type"], said["data"]], sort_keys=True)
        with self._lock:
            self.events[said["id"]] += 1
            self._decisions[said["id"]] = said["data"]["decision_id"]
            self.contents.setdefault(said["id"], set()).add(content)
