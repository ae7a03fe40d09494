"""What Prometheus reads of second opinions: ends, seconds, tokens and dollars by model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sureline.core.values.decision import Decision
from sureline.core.values.model_card import ModelCard, Usage
from sureline.core.values.signal import Signal, SignalKind
from sureline.testing import temporary_gate
from sureline.web.metrics import Metrics

JUDGE = SignalKind.JUDGE
POLICY = """\
version: 1
slices:
  replies: {mode: log_only, output: {structured: false}}
"""


@pytest.fixture
def decision() -> Decision:
    """Return a decision to which a test adds signals."""
    with temporary_gate(POLICY) as gate:
        return gate.decide_sync(slice_key="replies", task="Answer", output="Hello.")


def read(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of one name by the values of their labels, in the order of labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if sample.name == name
    }


def counted(decision: Decision, *signals: Signal) -> Metrics:
    metrics = Metrics()
    metrics.count_decision(replace(decision, signals=(*decision.signals, *signals)), 0.01)
    return metrics


def test_an_opinion_is_counted_with_what_it_took(decision: Decision) -> None:
    """The end is counted by slice, signal and model; the id that answered is no label."""
    usage = Usage(input_tokens=900, output_tokens=30, cost=0.002, seconds=1.5)
    card = ModelCard(asked="openai:judge", answered="any name at all", usage=usage)
    metrics = counted(decision, Signal.measured("judge", JUDGE, 1.0, detail=card.detail))
    names = ("replies", "judge", "openai:judge")
    assert sorted(read(metrics, "sureline_opinions_total")) == [
        ("agreed", "openai:judge", "", "judge", "replies")
    ]
    assert "any name" not in metrics.text().decode()
    assert sum(read(metrics, "sureline_opinion_seconds_sum").values()) == 1.5
    assert sum(read(metrics, "sureline_opinion_cost_dollars_total").values()) == 0.002
    assert sum(read(metrics, "sureline_opinion_tokens_total").values()) == 930
    assert set(next(iter(read(metrics, "sureline_opinion_costed_total")))) == set(names)


def test_a_failure_has_its_reason_and_no_made_up_cost(decision: Decision) -> None:
    """Nothing is added to seconds and dollars where they are not known."""
    metrics = counted(decision, Signal.failed("judge", JUDGE, "timeout"))
    ((labels, value),) = read(metrics, "sureline_opinions_total").items()
    assert (set(labels), value) == ({"failed", "", "timeout", "judge", "replies"}, 1)
    assert read(metrics, "sureline_opinion_cost_dollars_total") == {}
    assert read(metrics, "sureline_opinion_seconds_count") == {}


def test_a_decision_without_opinions_adds_no_series(decision: Decision) -> None:
    """Checks are no opinions."""
    assert read(counted(decision), "sureline_opinions_total") == {}
