"""Choose who traces: the program's own OpenTelemetry, that of the environment, or nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sureline.application.ports.tracing import UNTRACED, Tracer
from sureline.bootstrap.plugins import Plugins
from sureline.config import trace_exporter
from sureline.errors import InvalidInput


def tracer_on(provider: Any) -> Tracer:
    """Return a tracer on a program's own OpenTelemetry tracer provider, which stays its own."""
    from sureline.adapters.tracing.opentelemetry_tracer import OpenTelemetryTracer

    return OpenTelemetryTracer(provider)


def environment_plugins(plugins: Plugins | None = None) -> Plugins:
    """Return plug-ins whose tracer is the one that the OTEL_ variables ask for.

    Nothing of OpenTelemetry is imported where they ask for none. Raises InvalidInput, also where
    the extra `otel` is not installed.
    """
    plugins = plugins or Plugins()
    exporter = trace_exporter()
    if exporter is None or plugins.tracer is not UNTRACED:
        return plugins
    try:
        from importlib.metadata import version

        from sureline.adapters.tracing.exporting import exporting_tracer

        tracer = exporting_tracer(exporter, version=version("sureline"))
    except ImportError as error:
        raise InvalidInput(
            f"the variables ask for traces: pip install 'sureline[otel]' ({error.name})",
            field="OTEL_TRACES_EXPORTER",
        ) from error
    return replace(plugins, tracer=tracer)
