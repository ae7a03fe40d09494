"""What Prometheus reads of this process's use of its store (L9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from sureline.application.ports.store_figures import BATCH_SECONDS, StoreFigures
from sureline.errors import StoreError


class StoreMetrics:
    """Asks `figures` at every reading; without them it shows nothing but errors."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.figures: Callable[[], StoreFigures] | None = None
        self._errors = Counter(
            "sureline_store_errors",
            "Requests and scrapes that could not be answered, or not fully, because of the store.",
            ("error",),
            registry=registry,
        )
        kinds: list[type[StoreError]] = [StoreError, *StoreError.__subclasses__()]
        for kind in kinds:
            self._errors.labels(kind.__name__)  # from 0 on, so that the first is an increase
        registry.register(self)

    def count_error(self, error: StoreError) -> None:
        """Count what kept a request from its answer, by class."""
        self._errors.labels(type(error).__name__).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        figures = None if self.figures is None else self.figures()
        yield _seconds(figures)
        yield _failed(figures)
        jobs = CounterMetricFamily("sureline_store_jobs", "What was written in group commits.")
        gauges = (
            ("waiting", "Writes that wait for the group commit under way."),
            ("reading", "Reading connections in use."),
            ("readers", "Reading connections that there may be; 0 where none are pooled."),
        )
        families = [GaugeMetricFamily(f"sureline_store_{name}", about) for name, about in gauges]
        if figures is not None:
            jobs.add_metric((), figures.jobs)
            for family, (name, _) in zip(families, gauges, strict=True):
                family.add_metric((), getattr(figures, name))
        yield jobs
        yield from families


def _seconds(figures: StoreFigures | None) -> HistogramMetricFamily:
    family = HistogramMetricFamily(
        "sureline_store_commit_seconds", "Seconds that a group commit took, the disk included."
    )
    if figures is not None:
        ends = [*map(str, BATCH_SECONDS), "+Inf"]
        counts = zip(ends, accumulate(figures.batches), strict=True)
        family.add_metric((), [(end, float(count)) for end, count in counts], figures.seconds)
    return family


def _failed(figures: StoreFigures | None) -> CounterMetricFamily:
    family = CounterMetricFamily(
        "sureline_store_failures", "Writes that the store failed, by error.", labels=("error",)
    )
    for error, count in (figures.failed if figures is not None else {}).items():
        family.add_metric((error,), count)
    return family
