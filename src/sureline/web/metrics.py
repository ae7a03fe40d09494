"""What Prometheus reads; every label has few values, and none comes from a payload."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from sureline.core.values.decision import Decision
from sureline.web.ledger_metrics import LedgerMetrics
from sureline.web.operation_metrics import OperationMetrics
from sureline.web.opinion_metrics import OpinionMetrics
from sureline.web.queue_metrics import QueueMetrics
from sureline.web.store_metrics import StoreMetrics

UNKNOWN_PATH = "other"
"""The path of requests to no known address, so that a scanner adds no labels."""

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0)

_GAUGES = (
    ("deciding", "Decisions being worked on."),
    ("waiting", "Callers waiting for a person."),
    (
        "store_log_bytes",
        "Size of the store's write-ahead log, which a foreign reader can keep growing.",
    ),
)


class Metrics:
    """The counters of one server, in a registry of their own."""

    content_type = CONTENT_TYPE_LATEST.encode("ascii")

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "sureline_http_requests",
            "Requests by address, method and status.",
            ("path", "method", "status"),
            registry=self.registry,
        )
        self._decisions = Counter(
            "sureline_decisions",
            "New decisions by slice of the policy and route.",
            ("slice", "route"),
            registry=self.registry,
        )
        self._reasons = Counter(
            "sureline_decision_reasons",
            "Reasons of new decisions by code.",
            ("code",),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "sureline_decision_seconds",
            "Seconds from a proposal's arrival to its recorded decision, by slice.",
            ("slice",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._replays = Counter(
            "sureline_decision_replays",
            "Decisions that were there already and were sent again.",
            registry=self.registry,
        )
        self.deciding, self.waiting, self.log_bytes = (
            Gauge(f"sureline_{name}", about, registry=self.registry) for name, about in _GAUGES
        )
        self._opinions, self.queue = OpinionMetrics(self.registry), QueueMetrics(self.registry)
        self.ledger = LedgerMetrics(self.registry)
        self.store, self.operations = StoreMetrics(self.registry), OperationMetrics(self.registry)
        ProcessCollector(registry=self.registry)
        self._known_requests: dict[tuple[str, str, int], Counter] = {}
        self._known_decisions: dict[tuple[str, str], Counter] = {}

    def count_request(self, path: str, method: str, status: int) -> None:
        """Count a response; `path` is the address as documented, with its placeholders."""
        key = (path, method, status)
        child = self._known_requests.get(key)
        if child is None:
            child = self._known_requests[key] = self._requests.labels(path, method, str(status))
        child.inc()

    def count_decision(self, decision: Decision, seconds: float) -> None:
        """Count a new decision; its slice is one of the policy's, or there would be none."""
        key = (decision.slice_key, decision.route.value)
        child = self._known_decisions.get(key)
        if child is None:
            child = self._known_decisions[key] = self._decisions.labels(*key)
        child.inc()
        self._seconds.labels(decision.slice_key).observe(seconds)
        for reason in decision.reasons:
            self._reasons.labels(reason.code).inc()
        self._opinions.count(decision)

    def count_replay(self) -> None:
        """Count a decision that was sent again."""
        self._replays.inc()

    def unreadable(self) -> None:
        """Show nothing of what the store knew when it could still be read."""
        self.queue.clear()
        self.ledger.clear()
        self.operations.unreadable()

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
