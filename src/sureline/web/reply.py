"""What is sent back: bytes with a status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import Send

from sureline.core.canonical import json_bytes

JSON = b"application/json"

_ALWAYS = ((b"x-content-type-options", b"nosniff"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete response."""

    body: bytes
    status: int = 200
    media_type: bytes = JSON
    headers: Sequence[tuple[bytes, bytes]] = ()
    cache: bytes = b"no-store"

    @classmethod
    def json(cls, value: Any, *, status: int = 200) -> Reply:
        """Reply with a JSON value."""
        return cls(body=json_bytes(value), status=status)

    async def send(self, send: Send) -> None:
        """Send it through ASGI."""
        headers = [
            (b"content-type", self.media_type),
            (b"content-length", b"%d" % len(self.body)),
            (b"cache-control", self.cache),
            *_ALWAYS,
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})
