"""A tracer provider of our own, where the standard variables ask for one."""

from __future__ import annotations

import sys
import threading

from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
)

from sureline.adapters.tracing.opentelemetry_tracer import OpenTelemetryTracer

FLUSH_SECONDS = 3.0
"""How long the end of a process waits for a collector to take what is pending."""


def exporting_tracer(exporter: str, *, version: str) -> OpenTelemetryTracer:
    """Return a tracer that exports by `otlp` (over HTTP, from a thread) or to the `console`.

    Where to, how often and how many are read by the SDK itself from its variables. The console is
    standard error: standard output carries decisions.
    """
    provider = TracerProvider(resource=_resource(version), shutdown_on_exit=False)
    provider.add_span_processor(_processor(exporter))

    def shut_down() -> None:
        # The SDK would wait for a collector that is away for half a minute and more.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(FLUSH_SECONDS)

    return OpenTelemetryTracer(provider, shut_down=shut_down)


def _processor(exporter: str) -> SpanProcessor:
    if exporter == "console":
        return SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr))
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return BatchSpanProcessor(OTLPSpanExporter())


def _resource(version: str) -> Resource:
    """Return what the variables say of this service, and our name where they say none."""
    known = {SERVICE_VERSION: version, **Resource.create().attributes}
    if str(known[SERVICE_NAME]).startswith("unknown_service"):
        known[SERVICE_NAME] = "sureline"
    return Resource(known)
