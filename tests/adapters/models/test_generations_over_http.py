"""A generator behind a real connection is asked for its answer again."""

from __future__ import annotations

import json

from sureline.core.values.decision import Decision, Route
from sureline.core.values.signal import Signal, SignalState
from sureline.testing import temporary_gate
from tests.model_servers import Fault, ModelServer, Say, Wire

POLICY = """
version: 1
slices:
  invoices:
    mode: route
    audit_rate: 0
    weights: {{verification: 1.0, consistency: 0.9}}
    rules: [{{field: total, required: true}}]
    generator: {{model: "{model}"}}
    consistency: {{ask: true, generations: 3, temperature: null}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: "2026-01-01"}}
"""


def decide(wire: Wire, times: int = 1) -> tuple[Decision, Signal]:
    with temporary_gate(POLICY.format(model=wire.model)) as gate:
        for number in range(times):
            decision = gate.decide_sync(
                slice_key="invoices", task="Read it.", output={"total": 5}, id=f"{number}"
            )
    return decision, next(one for one in decision.signals if one.name == "consistency")


def test_each_generation_is_a_call_of_its_own(server: ModelServer, wire: Wire) -> None:
    """Neither a kept reply nor a call in flight stands for another; the same case is asked anew."""
    server.says = lambda asked: json.dumps({"total": 5})
    decision, signal = decide(wire, times=2)
    assert signal.value == 1.0
    assert decision.route is Route.AUTO_APPROVE
    assert len(server.asked) == 6
    assert len({asked.content for asked in server.asked}) == 6
    assert signal.detail["model"] == wire.answers
    assert signal.detail["calls"] == 3
    assert signal.detail["input_tokens"] == 300


def test_what_the_calls_bring_is_compared(server: ModelServer, wire: Wire) -> None:
    """Chatter around the object is set aside; another value and a refusal disagree."""
    server.script('Sure: {"total": 5.0}', '{"total": 7}', Say("No.", ended="refusal"))
    decision, signal = decide(wire)
    assert signal.value is not None
    assert round(signal.value, 6) == 0.333333
    assert signal.findings[0].field == "total"
    assert not decision.approved


def test_a_call_that_fails_for_good_fails_the_signal(server: ModelServer, wire: Wire) -> None:
    """The two that answered are not taken for all three; a person decides."""
    server.script('{"total": 5}', Fault(401, "sk-secret"), '{"total": 5}')
    decision, signal = decide(wire)
    assert (signal.state, signal.reason) == (SignalState.FAILED, "unauthorized")
    assert "sk-secret" not in repr(signal)
    assert decision.route is Route.HUMAN_REQUIRED
