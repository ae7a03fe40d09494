"""How much a reply may hold: the libraries build an object for each value, on the event loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

MOST_DIMENSIONS = 8_192
"""The longest vector of a text that is read."""

_ROW_MORE = 16
"""Values of a row besides its numbers."""

_TOKEN_VALUES = 32
"""Values that come with the log-probability of one token: the token, its bytes and its figure."""


class BodyRefused(Exception):
    """The body of a response is longer or holds more than any that is read, or is compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """The most that a body may have: bytes, JSON objects, and JSON values of every kind.

    A megabyte of empty objects is built into hundreds of megabytes, and takes many seconds.
    """

    size: int
    objects: int
    values: int


CHAT = BodyLimits(size=2**20, objects=500, values=2_000)
"""A proper reply has dozens of values; its text may be ten times as long as any that is read."""


def chat_limits(tokens: int | None) -> BodyLimits:
    """Return the limits of a reply with log-probabilities of so many tokens, None for without."""
    if tokens is None:
        return CHAT
    return BodyLimits(
        size=CHAT.size,
        objects=CHAT.objects + tokens,
        values=CHAT.values + tokens * _TOKEN_VALUES,
    )


def embedding_limits(texts: int) -> BodyLimits:
    """Return the limits of a reply with a vector for each of so many texts."""
    return BodyLimits(
        size=8 * 2**20,
        objects=CHAT.objects + texts,
        values=CHAT.values + texts * (MOST_DIMENSIONS + _ROW_MORE),
    )


_LIMITS: ContextVar[BodyLimits] = ContextVar("limits of a body", default=CHAT)


@contextmanager
def limited_to(limits: BodyLimits) -> Iterator[None]:
    """Hold the responses of what is asked meanwhile, by this task, to some limits."""
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


class BodyMeter:
    """Counts what the body of a response holds, block by block, without parsing it.

    Counted is what stands outside of strings, as far as the body is JSON; where it stops to be, a
    parser stops too. So nothing that a parser builds has not been counted before.
    """

    __slots__ = ("_escaped", "_in_string", "_limits", "_objects", "_read", "_values")

    def __init__(self) -> None:
        self._limits = _LIMITS.get()
        self._read = self._objects = self._values = 0
        self._in_string = self._escaped = False

    def add(self, block: bytes) -> None:
        """Count a block. Raises BodyRefused when there is too much of anything.

        A zero byte is refused as well: no JSON in UTF-8 has one, and in UTF-16 and UTF-32, which
        parsers read too, strings could not be told by their bytes.
        """
        self._read += len(block)
        if self._read > self._limits.size:
            raise BodyRefused("the body is too long")
        if b"\0" in block:
            raise BodyRefused("the body is not in UTF-8")
        outside = self._outside(block)
        objects = outside.count(b"{")
        self._objects += objects
        self._values += objects + outside.count(b",") + outside.count(b"[")
        if self._objects > self._limits.objects or self._values > self._limits.values:
            raise BodyRefused("the body holds too many values")

    def _outside(self, block: bytes) -> bytes:
        """Return what of a block is not in a string."""
        if self._escaped and block:
            block, self._escaped = block[1:], False
        block = block.replace(b"\\\\", b"")
        self._escaped = self._escaped or block.endswith(b"\\")
        parts = block.replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[int(self._in_string) :: 2])
        if len(parts) % 2 == 0:
            self._in_string = not self._in_string
        return outside
