"""Spans through the OpenTelemetry API, on whatever tracer provider there is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import Token
from types import TracebackType
from typing import Any, Self

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sureline.application.ports.tracing import Figure

logger = logging.getLogger("sureline.tracing")

LONGEST_TRACEPARENT = 55
"""Bytes of the header in the one version that there is; a longer one is not looked at."""

_HEADER = TraceContextTextMapPropagator()


class OpenTelemetryTracer:
    """Makes spans on `provider`; `shut_down`, if given, hands on what is pending at the end.

    Nothing that happens in the provider reaches the work that is spanned: its errors end here.
    """

    def __init__(
        self, provider: TracerProvider, *, shut_down: Callable[[], None] | None = None
    ) -> None:
        self._tracer = provider.get_tracer("sureline")
        self._shut_down = shut_down

    def span(self, name: str, *, asks: bool = False) -> _Span:
        """Span what is done inside, below the span that is under way."""
        return _Span(self._tracer, name, SpanKind.CLIENT if asks else SpanKind.INTERNAL, None)

    def request(self, name: str, traceparent: bytes | None) -> _Span:
        """Span the answering of a request, below the caller's own span if it names one.

        The header `tracestate` is dropped: it is a stranger's free text.
        """
        return _Span(self._tracer, name, SpanKind.SERVER, callers_context(traceparent))

    def close(self) -> None:
        """Hand on what is pending."""
        if self._shut_down is not None:
            _guarded(self._shut_down)


class _Span:
    """One span, from entering to leaving; the current one of its task meanwhile."""

    __slots__ = ("_context", "_is_faulty", "_kind", "_name", "_span", "_token", "_tracer")

    def __init__(
        self,
        tracer: trace.Tracer,
        name: str,
        kind: SpanKind,
        context: contexts.Context | None,
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._kind = kind
        self._context = context
        self._span: trace.Span = trace.INVALID_SPAN
        self._is_faulty = False
        self._token: Token[contexts.Context] | None = None

    @property
    def recorded(self) -> bool:
        return self._span.is_recording()

    @property
    def trace_id(self) -> str | None:
        found = self._span.get_span_context()
        return format(found.trace_id, "032x") if found.is_valid else None

    def note(self, figures: Mapping[str, Figure]) -> None:
        _guarded(lambda: self._span.set_attributes(figures))

    def fault(self, code: str) -> None:
        self._is_faulty = True

        def mark() -> None:
            self._span.set_attribute("error.type", code)
            self._span.set_status(Status(StatusCode.ERROR, code))

        _guarded(mark)

    def __enter__(self) -> Self:
        _guarded(self._start)
        self._token = contexts.attach(trace.set_span_in_context(self._span, self._context))
        return self

    def _start(self) -> None:
        self._span = self._tracer.start_span(
            self._name,
            context=self._context,
            kind=self._kind,
            # Both would write down the error's message, which may quote a payload.
            record_exception=False,
            set_status_on_exception=False,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None and not self._is_faulty:  # a code says more than a class
            self.fault(kind.__name__)
        if self._token is not None:
            contexts.detach(self._token)
        _guarded(self._span.end)


def callers_context(traceparent: bytes | None) -> contexts.Context:
    """Return the context that a request's header describes, an empty one without a sound one."""
    empty = contexts.Context()
    if traceparent is None or len(traceparent) != LONGEST_TRACEPARENT:
        return empty
    carrier = {"traceparent": traceparent.decode("latin-1")}
    return _HEADER.extract(carrier, context=empty)


def _guarded(work: Callable[[], Any]) -> None:
    """Do something with the provider, whose processors and exporters may raise anything."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - the boundary: tracing stops no decision
        logger.debug("a span was lost: %s", type(error).__name__)
