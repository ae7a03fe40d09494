"""Receive a body with its signature, without reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starlette.types import Receive, Scope

from sureline.application.review.inbound import NOT_SIGNED
from sureline.core.review.signature import Signed
from sureline.errors import NotSigned, RateLimited
from sureline.web.context import ServerContext

MOST_HEADER = 2_000


async def signed_body(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, context: ServerContext
) -> Signed:
    """Return a request as it came. Raises RateLimited, NotSigned and what receiving a body does.

    Without headers that could be a signature of now, no body is received.
    """
    try:
        context.inbound.take((scope.get("client") or ("",))[0])
    except RateLimited:
        raise RateLimited("too many deliveries from your address; wait a moment") from None
    signed = Signed(
        id=_text(headers, b"webhook-id"),
        timestamp=_text(headers, b"webhook-timestamp"),
        signatures=_text(headers, b"webhook-signature"),
    )
    if not signed.is_of_now(context.services.clock.now()) or not signed.signatures:
        raise NotSigned(NOT_SIGNED)
    return replace(signed, body=await context.inbound_bodies.unread(headers, receive))


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    """Return a header, an empty text where it is missing or too long."""
    value = headers.get(name, b"")
    return value.decode("latin-1") if len(value) <= MOST_HEADER else ""
