"""The HTTP client: no body without end, no redirect, nothing decompressed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 8 * 2**20
"""The longest body that is read; the log-probabilities of 4,096 tokens take about one MiB."""


class BodyRefused(Exception):
    """The body of a response is longer than any that is read, or compressed."""


def bounded_client() -> httpx2.AsyncClient:
    """Return a client whose responses raise BodyRefused instead of filling the memory.

    It asks for uncompressed bodies and refuses others: a few kilobytes can unpack to gigabytes.
    """
    from pydantic_ai.models import create_async_httpx2_client

    client: httpx2.AsyncClient = create_async_httpx2_client()
    client.headers["Accept-Encoding"] = "identity"
    client.event_hooks = {**client.event_hooks, "response": [_bound]}
    return client


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BodyRefused("the body is compressed")
    response.stream = _bounded_stream()(response.stream)


@lru_cache(maxsize=1)
def _bounded_stream() -> type[Any]:
    """Return the class of bounded bodies, which needs the library to be imported."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for block in self._inner:
                read += len(block)
                if read > MOST_BYTES:
                    raise BodyRefused("the body is too long")
                yield block

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded
