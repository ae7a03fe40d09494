"""Spans through OpenTelemetry; imported only where tracing is asked for (extra `otel`)."""
