"""Say what went wrong as problem details (RFC 9457), without internals and without payloads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from sureline.core.canonical import json_bytes
from sureline.errors import InvalidInput, StoreError, SurelineError
from sureline.web.faults import AtWork, MethodNotAllowed
from sureline.web.reply import Reply

PROBLEM = b"application/problem+json"
TYPE = "urn:sureline:problem:"
"""Before the code, the problem's type."""

RETRY_SECONDS = b"1"

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def code_of(error: SurelineError) -> str:
    """Return an error's stable code, such as `unknown_slice`."""
    code: str = getattr(error, "code", None) or _HUMP.sub("_", type(error).__name__).lower()
    return code


def problem_of(error: SurelineError) -> Reply:
    """Return the reply to an error that was raised on purpose."""
    message = error.message
    if isinstance(error, StoreError) or error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        message = error.title()  # the message names files of this machine
    return _problem(
        status=error.status,
        code=code_of(error),
        title=error.title().rstrip("."),
        detail=message,
        field=error.field if isinstance(error, InvalidInput) else None,
        headers=_headers(error),
        told=error.told if isinstance(error, AtWork) else {},
    )


def internal_error() -> Reply:
    """Return the reply to an error that nobody foresaw; it says nothing of its cause."""
    return _problem(
        status=500,
        code="internal_error",
        title="Something went wrong in the server",
        detail="The server's log says where; nothing was automated.",
    )


def _problem(
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    field: str | None = None,
    headers: tuple[tuple[bytes, bytes], ...] = (),
    told: Mapping[str, Any] = _NOTHING,
) -> Reply:
    body: dict[str, Any] = {
        "type": TYPE + code,
        "title": title,
        "status": status,
        "detail": _encodable(detail),
        "code": code,
        **told,
    }
    if field is not None:
        body["field"] = _encodable(field)
    return Reply(body=json_bytes(body), status=status, media_type=PROBLEM, headers=headers)


def _headers(error: SurelineError) -> tuple[tuple[bytes, bytes], ...]:
    if isinstance(error, MethodNotAllowed):
        return ((b"allow", error.allowed.encode("ascii")),)
    if isinstance(error, AtWork):
        return ((b"retry-after", b"%d" % error.seconds),)
    if error.status == HTTPStatus.UNAUTHORIZED:
        return ((b"www-authenticate", b'Bearer realm="sureline"'),)
    if error.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return ((b"retry-after", RETRY_SECONDS),)
    if error.status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}:
        return ((b"connection", b"close"),)  # the rest of the body is not waited for
    return ()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
