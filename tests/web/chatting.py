"""A chat whose bridge signs, with the public library, what its people say about items."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from standardwebhooks import Webhook

from tests.receivers import SECRET
from tests.web.served import POLICY, REVIEWER, Served, serve

SOURCES = """\
inbound:
  - name: chat
    secret_from: CHAT_SECRET
    reviewers: {U1: Ada, U2: Bo}
  - name: tickets
    secret_from: TICKETS_SECRET
    slices: [invoices]
    reviewers: {a1: Ada}
"""
OTHER_SECRET = "whsec_" + "b3RoZXIh" * 4


def signature(secret: str, delivery: str, at: datetime, body: bytes) -> str:
    """Sign as the public library does; bytes that are no text, which it does not sign, likewise."""
    try:
        return Webhook(secret).sign(delivery, at, body.decode())
    except UnicodeDecodeError:
        content = f"{delivery}.{int(at.timestamp())}.".encode() + body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        return f"v1,{base64.b64encode(hmac.digest(key, content, 'sha256')).decode()}"


@dataclass(kw_only=True)
class Chat:
    """Talks to a server as a source does; everything can be said wrong."""

    served: Served
    name: str = "chat"
    secret: str = SECRET
    numbers: Iterator[int] = field(default_factory=count)

    def item(self, output: Any = "Yes.", **more: Any) -> dict[str, Any]:
        """Submit an output that a person must see; return what a chat would be told of it."""
        made = self.served.decide(slice_key="replies", output=output, **more).json()
        shown = self.served.call("GET", f"/v1/reviews/{made['id']}", REVIEWER).json()["review"]
        return {"review_id": shown["id"], "digest": shown["digest"]}

    def state(self, review_id: str) -> dict[str, Any]:
        """Return how an item stands."""
        answer = self.served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
        found: dict[str, Any] = answer["review"]
        return found

    def say(self, said: Any, *, as_id: str | None = None, **more: Any) -> httpx.Response:
        """Send what somebody says as one delivery."""
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        return self.send(body, self.headers(body, as_id or f"msg_{next(self.numbers)}"), **more)

    def headers(
        self, body: bytes, delivery: str, *, ago: timedelta = timedelta()
    ) -> dict[str, str]:
        """Sign a body as of now, or of some time ago."""
        at = self.served.clock.now() - ago
        return {
            "content-type": "application/json",
            "webhook-id": delivery,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": signature(self.secret, delivery, at, body),
        }

    def send(self, body: bytes, headers: dict[str, str], **more: Any) -> httpx.Response:
        """Send bytes under headers, whatever they are."""
        path = f"/v1/inbound/{more.pop('source', self.name)}"
        return self.served.call("POST", path, None, content=body, headers=headers, **more)


@contextmanager
def chatting(folder: Path, *, policy: str = POLICY, **more: Any) -> Iterator[Chat]:
    """Run a server whose policy has sources."""
    with serve(folder, policy=policy + SOURCES, **more) as served:
        served.clients[None] = served.client(None)  # made before threads share it
        yield Chat(served=served)
