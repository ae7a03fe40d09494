"""What Prometheus reads of the review queue (R9)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from sureline.application.review.queue_health import QueueReport, QueueRow

_OF = ("slice",)


class QueueMetrics:
    """The queue as of the last reading, for slices of the current policy and no others."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, about: str, labels: tuple[str, ...] = _OF) -> Gauge:
            return Gauge(f"sureline_queue_{name}", about, labels, registry=registry)

        self._open = gauge("open", "Items that wait for a person, audits included.")
        self._oldest = gauge(
            "oldest_seconds", "How long the oldest item waits, 0 where none does; without audits."
        )
        self._arrivals = gauge("arrivals_per_day", "Items that came, per day of the last week.")
        self._verdicts = gauge("verdicts_per_day", "Items decided, per day of the last week.")
        self._expired = gauge("expired", "Items that expired undecided in the last week.")
        self._in_a_week = gauge("expected_in_a_week", "Items that would wait in a week.")
        self._overloaded = gauge("overloaded", "1 where more comes than is decided in time.")
        self._seconds = gauge(
            "verdict_seconds",
            "Seconds from opening to verdict in the last week, the upper end of a class.",
            (*_OF, "quantile"),
        )
        self._gauges = (
            self._open,
            self._oldest,
            self._arrivals,
            self._verdicts,
            self._expired,
            self._in_a_week,
            self._overloaded,
            self._seconds,
        )

    def clear(self) -> None:
        """Show nothing."""
        for gauge in self._gauges:
            gauge.clear()

    def show(self, report: QueueReport) -> None:
        """Take over a report; a slice that has left the policy is not shown any more."""
        self.clear()
        for row in report.slices:
            if row.is_current:
                self._set(row)

    def _set(self, row: QueueRow) -> None:
        load = row.load
        self._open.labels(row.name).set(load.open)
        self._oldest.labels(row.name).set(load.oldest.total_seconds())
        self._arrivals.labels(row.name).set(load.arrivals_a_day)
        self._verdicts.labels(row.name).set(load.verdicts_a_day)
        self._expired.labels(row.name).set(load.expired)
        self._in_a_week.labels(row.name).set(row.in_a_week)
        self._overloaded.labels(row.name).set(row.overload is not None)
        for name, span in (("0.5", row.p50), ("0.95", row.p95)):
            if span is not None:
                self._seconds.labels(row.name, name).set(span.total_seconds())
