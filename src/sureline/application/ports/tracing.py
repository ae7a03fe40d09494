"""Spans: what a decision's time went into, for whoever collects traces (L9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, Self

Figure = str | int | float | bool | Sequence[str]
"""What a span may say: an identifier, a code or a number, never a part of a payload."""


class Span(Protocol):
    """A stretch of work under way."""

    @property
    def recorded(self) -> bool:
        """Tell whether anybody keeps what is noted; else there is no need to gather it."""

    @property
    def trace_id(self) -> str | None:
        """Return the id of the trace in hexadecimal, None where nothing is traced."""

    def note(self, figures: Mapping[str, Figure]) -> None:
        """Add figures."""

    def fault(self, code: str) -> None:
        """Mark the work as failed, with a code."""


class Tracer(Protocol):
    """Makes spans; whatever becomes of them, the work in them goes on the same."""

    def span(self, name: str, *, asks: bool = False) -> AbstractContextManager[Span]:
        """Span what is done inside, below the span that is under way; `asks` another service.

        An error marks it with the name of its class, not with its message: that may quote.
        """

    def request(self, name: str, traceparent: bytes | None) -> AbstractContextManager[Span]:
        """Span the answering of a request, below the caller's own span if it names one.

        `traceparent` is the header of W3C Trace Context as it came; what is no such thing is as
        good as none.
        """

    def close(self) -> None:
        """Hand on what is pending, for a few seconds at most."""


class _Untraced:
    """No span and no tracer: everything it is asked for is nothing, and costs next to it."""

    __slots__ = ()
    recorded = False
    trace_id = None

    def span(self, name: str, *, asks: bool = False) -> Self:  # noqa: ARG002
        return self

    def request(self, name: str, traceparent: bytes | None) -> Self:  # noqa: ARG002
        return self

    def note(self, figures: Mapping[str, Figure]) -> None:  # noqa: ARG002
        return

    def fault(self, code: str) -> None:  # noqa: ARG002
        return

    def close(self) -> None:
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


UNTRACED: Tracer = _Untraced()
"""The tracer of whoever asked for none."""
