"""A whole gate with a judge behind a real connection."""

from __future__ import annotations

import json

import pytest

from sureline.core.values.decision import Decision
from sureline.core.values.signal import Signal, SignalState
from sureline.gate import Gate
from sureline.testing import temporary_gate
from tests.model_servers import Asked, Fault, ModelServer, Raw, Say, Step, Wire

POLICY = """
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 1.0}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: "2026-01-01"}}
    judge: {{model: "{model}", otherwise: 1.0}}
"""
AGREES = {"reason": "none found", "failure_mode": None, "agrees": True, "confidence": 0.9}
REFUTES = AGREES | {"failure_mode": "other", "agrees": False}


def decide(gate: Gate, vendor: str = "Acme") -> tuple[Decision, Signal]:
    decision = gate.decide_sync(slice_key="invoices", task="read", output={"vendor": vendor})
    return decision, next(one for one in decision.signals if one.name == "judge")


def test_what_the_judge_says_over_the_wire_decides(server: ModelServer, wire: Wire) -> None:
    """It sees the output fenced as data; its refutation sends the output to a person."""
    server.script(json.dumps(AGREES), json.dumps(REFUTES))
    with temporary_gate(POLICY.format(model=wire.model)) as gate:
        agreed, verdict = decide(gate)
        refuted, _ = decide(gate, "Acne")
    assert '"Acme"' in server.asked[0].content
    assert verdict.state is SignalState.MEASURED
    assert verdict.detail["model"] == wire.answers
    assert verdict.detail["input_tokens"] == 100
    assert verdict.detail["cost"] > 0
    assert agreed.approved
    assert not refuted.approved


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        pytest.param(Fault(401, "sk-secret"), "unauthorized", id="bad key"),
        pytest.param(Fault(404, "sk-secret"), "not_found", id="no such model"),
        pytest.param(Raw(b"sk-secret"), "unreadable_response", id="no answer"),
        pytest.param(Say("sk-secret", ended="refusal"), "refused", id="refusal"),
        pytest.param(Say("sk-secret", ended="length"), "truncated", id="cut off twice"),
    ],
)
def test_a_judge_without_an_answer_has_failed(
    server: ModelServer, wire: Wire, step: Step, reason: str
) -> None:
    """The reason is kept, no word of the provider or the model is, and nothing is made up."""

    def says(asked: Asked) -> Step:
        return step

    server.says = says
    with temporary_gate(POLICY.format(model=wire.model)) as gate:
        _, verdict = decide(gate)
    assert (verdict.state, verdict.reason, verdict.value) == (SignalState.FAILED, reason, None)
    assert "sk-secret" not in repr(verdict.detail)


def test_without_a_key_the_gate_decides_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge has failed, and its signal names the variable that is missing."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with temporary_gate(POLICY.format(model="openai:gpt-5-mini")) as gate:
        _, verdict = decide(gate)
    assert (verdict.state, verdict.reason) == (SignalState.FAILED, "not_configured")
    assert verdict.detail["variable"] == "OPENAI_API_KEY"
