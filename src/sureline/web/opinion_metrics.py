"""What Prometheus reads of second opinions (L5)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from sureline.core.values.decision import Decision
from sureline.core.values.opinion_use import FIGURES, MILLION, uses_of

SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_OF = ("slice", "signal", "model")


class OpinionMetrics:
    """Counts what models said, by the policy's names for them.

    The id that answered is no label: whoever answers may call itself anything, so that it would
    make series without end.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._ends = Counter(
            "sureline_opinions",
            "Second opinions on new decisions by slice, signal, model of the policy and end.",
            (*_OF, "end", "reason"),
            registry=registry,
        )
        self._seconds = Histogram(
            "sureline_opinion_seconds",
            "Seconds that a second opinion took, where a model was asked and that is known.",
            _OF,
            buckets=SECONDS,
            registry=registry,
        )
        self._dollars = Counter(
            "sureline_opinion_cost_dollars",
            "US dollars that second opinions took, of those whose cost is known.",
            _OF,
            registry=registry,
        )
        self._costed = Counter(
            "sureline_opinion_costed",
            "Second opinions whose cost is known.",
            _OF,
            registry=registry,
        )
        self._tokens = Counter(
            "sureline_opinion_tokens",
            "Tokens of second opinions, where the provider tells.",
            (*_OF, "direction"),
            registry=registry,
        )

    def count(self, decision: Decision) -> None:
        """Count the opinions of a new decision; what is not known adds nothing."""
        for key, figures in uses_of(decision.signals):
            of = dict(zip(FIGURES, figures, strict=True))
            names = (decision.slice_key, key.signal, key.asked)
            self._ends.labels(*names, key.end.value, key.reason).inc()
            if of["timed"]:
                self._seconds.labels(*names).observe(of["ms"] / 1000)
            if of["costed"]:
                self._costed.labels(*names).inc()
                self._dollars.labels(*names).inc(of["cost"] / MILLION)
            if of["metered"]:
                self._tokens.labels(*names, "input").inc(of["input_tokens"])
                self._tokens.labels(*names, "output").inc(of["output_tokens"])
