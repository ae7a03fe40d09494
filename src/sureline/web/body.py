"""Receive a body within its limits and read it as JSON, strictly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.types import Receive

from sureline.core.checks.parse import parse_output
from sureline.errors import TooLarge
from sureline.web.faults import ClientGone, Overloaded, TooSlow, UnreadableBody, WrongMediaType
from sureline.web.settings import ServerSettings

_STATUS = {"not_an_object": 422, "too_large": 413}


class BodyReader:
    """Reads request bodies; all that are being received share one budget of memory."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._buffered = 0

    async def json_object(
        self, headers: Mapping[bytes, bytes], receive: Receive, *, may_be_empty: bool = False
    ) -> dict[str, Any]:
        """Return the JSON object that the body is; with `may_be_empty`, no body is an empty one.

        Raises TooLarge, TooSlow, WrongMediaType, Overloaded, and UnreadableBody with the position
        of what is wrong.
        """
        body = await self.unread(headers, receive)
        if may_be_empty and not body:
            return {}
        return await self.read(headers, body)

    async def unread(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        """Return a body as it came, unread. Raises TooLarge, TooSlow and Overloaded."""
        return await self._receive(headers, receive)

    async def read(self, headers: Mapping[bytes, bytes], body: bytes) -> dict[str, Any]:
        """Return the JSON object that a body is. Raises as `json_object` does."""
        _check_media_type(headers)
        if len(body) <= self._settings.inline_bytes:
            return read_object(body)
        return await asyncio.to_thread(_read_large, body, self._settings.values)

    async def form(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        """Return the body of a form. Raises as `json_object` does."""
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if media_type != b"application/x-www-form-urlencoded":
            raise WrongMediaType("a form is sent as application/x-www-form-urlencoded")
        return await self._receive(headers, receive)

    async def _receive(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        self._check_size(_declared(headers))
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                message = await receive()
                if message["type"] == "http.request" and not message.get("more_body"):
                    body: bytes = message.get("body", b"")
                    self._check_size(len(body))
                    return body
                return await self._receive_rest(message, receive)
        except TimeoutError:
            raise TooSlow from None

    async def _receive_rest(self, message: Mapping[str, Any], receive: Receive) -> bytes:
        size, chunks = 0, []
        try:
            while True:
                if message["type"] != "http.request":
                    raise ClientGone
                chunk = message.get("body", b"")
                size += len(chunk)
                self._buffered += len(chunk)
                self._check_size(size)
                if self._buffered > self._settings.buffered_bytes:
                    raise Overloaded
                chunks.append(chunk)
                if not message.get("more_body"):
                    return b"".join(chunks)
                message = await receive()
        finally:
            self._buffered -= size

    def _check_size(self, size: int) -> None:
        if size > self._settings.body_bytes:
            raise TooLarge(f"the body is larger than {self._settings.body_bytes} bytes")


def read_object(body: bytes) -> dict[str, Any]:
    """Read bytes as one JSON object (RFC 8259); duplicate keys, NaN, depth bombs are refused.

    Raises UnreadableBody with a code and the position.
    """
    parsed = parse_output(body)
    if parsed.findings:
        found = parsed.findings[-1]
        message = found.message
        if found.code == "bom":
            message = "A byte-order mark stands before the JSON (character 0)."
        error = UnreadableBody(message, code=found.code, field=found.field)
        error.status = _STATUS.get(found.code, 400)
        raise error
    assert isinstance(parsed.value, dict)
    return parsed.value


def _read_large(body: bytes, most: int) -> dict[str, Any]:
    found = read_object(body)
    if has_more_values(found, most):
        raise TooLarge(f"the body holds more than {most} JSON values")
    return found


def has_more_values(value: object, most: int) -> bool:
    """Tell whether there are more than `most` values in a JSON value, itself included."""
    count, open_values = 1, [value]
    while open_values and count <= most:
        inner = open_values.pop()
        if isinstance(inner, dict):
            count += len(inner)
            open_values.extend(inner.values())
        elif isinstance(inner, list):
            count += len(inner)
            open_values.extend(inner)
    return count > most


def _declared(headers: Mapping[bytes, bytes]) -> int:
    text = headers.get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def _check_media_type(headers: Mapping[bytes, bytes]) -> None:
    kind = headers.get(b"content-type")
    if kind is not None:
        essence = kind.split(b";", 1)[0].strip().lower()
        if essence != b"application/json" and not essence.endswith(b"+json"):
            raise WrongMediaType
    if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise WrongMediaType
