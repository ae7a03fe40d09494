"""What Prometheus reads; every label has few values, and none comes from a payload."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from sureline.core.values.decision import Decision
from sureline.core.values.opinion_use import FIGURES, MILLION, uses_of

UNKNOWN_PATH = "other"
"""The path of requests to no known address, so that a scanner adds no labels."""

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0)
OPINION_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


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
        self.deciding = Gauge(
            "sureline_deciding", "Decisions being worked on.", registry=self.registry
        )
        self.waiting = Gauge(
            "sureline_waiting", "Callers waiting for a person.", registry=self.registry
        )
        self._opinions = Counter(
            "sureline_opinions",
            "Second opinions on new decisions by slice, signal, model of the policy and end.",
            ("slice", "signal", "model", "end", "reason"),
            registry=self.registry,
        )
        self._opinion_seconds = Histogram(
            "sureline_opinion_seconds",
            "Seconds that a second opinion took, where that is known and a model was asked.",
            ("slice", "signal", "model"),
            buckets=OPINION_SECONDS,
            registry=self.registry,
        )
        self._opinion_cost = Counter(
            "sureline_opinion_cost_dollars",
            "US dollars that second opinions took, of those whose cost is known.",
            ("slice", "signal", "model"),
            registry=self.registry,
        )
        self._opinion_costed = Counter(
            "sureline_opinion_costed",
            "Second opinions whose cost is known.",
            ("slice", "signal", "model"),
            registry=self.registry,
        )
        self._opinion_tokens = Counter(
            "sureline_opinion_tokens",
            "Tokens of second opinions, where the provider tells.",
            ("slice", "signal", "model", "direction"),
            registry=self.registry,
        )
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
        self._count_opinions(decision)

    def _count_opinions(self, decision: Decision) -> None:
        """Count what models said; the model that answered is no label, as anyone may name it."""
        for key, figures in uses_of(decision.signals):
            of = dict(zip(FIGURES, figures, strict=True))
            names = (decision.slice_key, key.signal, key.asked)
            self._opinions.labels(*names, key.end.value, key.reason).inc()
            if of["timed"]:
                self._opinion_seconds.labels(*names).observe(of["ms"] / 1000)
            if of["costed"]:
                self._opinion_costed.labels(*names).inc()
                self._opinion_cost.labels(*names).inc(of["cost"] / MILLION)
            if of["metered"]:
                self._opinion_tokens.labels(*names, "input").inc(of["input_tokens"])
                self._opinion_tokens.labels(*names, "output").inc(of["output_tokens"])

    def count_replay(self) -> None:
        """Count a decision that was sent again."""
        self._replays.inc()

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
