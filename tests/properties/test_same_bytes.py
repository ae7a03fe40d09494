"""Invariant 5: the same inputs under the same policy give the same decision, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = '''
import sys

from sureline.application.intake import read_proposal
from sureline.core.values.signal import SignalKind, SignalState
from sureline.testing import MOMENT, FakeJudge, FixedSignal, temporary_gate

POLICY = f"""
version: 1
action_classes: {{payment: {{stakes: high_cost, human: by_confidence}}}}
slices:
  invoices:
    mode: route
    weights: {{verification: 3, history: 2, judge: 1, build: 1, scan: 1, lint: 1}}
    verification: fraction
    output:
      json_schema:
        type: object
        required: [vendor, amount, due]
        properties: {{vendor: {{type: string}}, amount: {{type: number}}}}
        additionalProperties: true
    rules:
      - {{field: amount, between: [1, 1000]}}
      - {{field: due, not_before: today}}
      - {{field: vendor, one_of: [Brandt, Oyelaran, Sato]}}
    prose: [{{field: note, max_sentences: 1, keywords_from_task: true, forbidden_phrases: [no]}}]
    grounding: {{fields: [vendor, amount, due]}}
    history: {{neighbours: 4, fields: [vendor, amount]}}
    judge: {{model: judge-1, borderline: 0.3, otherwise: 0.5}}
    hypothesis: {{auto: 0.8, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
SIGNALS = [
    FixedSignal("lint", SignalKind.OBJECTIVE, 0.9),
    FixedSignal("build", SignalKind.OBJECTIVE, 0.7),
    FixedSignal("scan", SignalKind.OBJECTIVE, 1 / 3),
    FixedSignal("unused", SignalKind.OBJECTIVE, SignalState.FAILED),
]
OUTPUTS = [
    {"vendor": "Brandt", "amount": 12.5, "due": "2026-03-01", "note": "Paid. No copy."},
    {"vendor": "Zo\\u00eb & S\\u00f6hne", "amount": 2**60 + 1, "due": "2020-01-01"},
    {"due": None, "amount": True},
    "[1, 2",
    '{"amount": 1, "amount": 2}',
]


def proposal(number, vendor, amount):
    output = {"vendor": vendor, "amount": amount, "due": "2026-03-01", "note": "Copy the invoice."}
    return {
        "id": f"past-{number}",
        "slice_key": "invoices",
        "task": "Copy the invoice",
        "output": output,
        "source": f"{vendor} asks for {amount} until 2026-03-01",
    }


def write(gate, fields):
    read = read_proposal(fields)
    sys.stdout.buffer.write(gate.run(gate.services.decider.decide(read)).response + b"\\n")


with temporary_gate(POLICY, signals=SIGNALS, judge=FakeJudge()) as gate:
    for number in range(12):
        vendor = ("Brandt", "Oyelaran", "Sato")[number % 3]
        write(gate, proposal(number, vendor, 10 + 7 * number))
        action = "reject" if number % 4 == 0 else "approve"
        gate.run(gate.record_outcome(f"past-{number}", action=action, by="Ada"))
    for number, output in enumerate(OUTPUTS):
        write(gate, {
            "id": f"new-{number}",
            "slice_key": "invoices",
            "task": "Copy the invoice",
            "output": output,
            "source": "Brandt asks for 12.50 until 2026-03-01",
            "self_report": float("nan"),
            "action_class": "payment" if number % 2 else None,
            "metadata": {"z": 1, "a": {"y": [1.0, 2], "b": None}},
        })
'''


def answers(seed: str) -> list[bytes]:
    """Return the responses of a process whose hashes are seeded so."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def first() -> list[bytes]:
    return answers("0")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_decision_is_the_same_on_any_hash_seed(first: list[bytes], seed: str) -> None:
    """Responses with every kind of signal, finding and reason do not depend on the process."""
    assert answers(seed) == first


def test_the_decisions_compared_are_of_many_kinds(first: list[bytes]) -> None:
    """What is compared holds a measured history, a judge's verdict, findings and several routes."""
    text = b"\n".join(first).decode()
    assert len(first) == 17
    for part in ('"auto_approve"', '"auto_reject"', '"human_review"', '"similarities"'):
        assert part in text, part
    for code in ("between", "schema_type", "not_grounded", "duplicate_key", "invalid_json"):
        assert f'"code":"{code}"' in text, code
