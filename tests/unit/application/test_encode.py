"""A decision's JSON: what stays, what can be erased, and that reading it back loses nothing."""

from __future__ import annotations

import json

from sureline import SignalKind
from sureline.application.encode import decode, encode_answer, encode_body, splice
from sureline.core.values.finding import Finding
from sureline.errors import ModelFailed
from sureline.testing import FakeJudge, temporary_gate

POLICY = """
version: 1
slices:
  notes:
    mode: route
    output: {structured: false}
    prose: [{max_length: 100}]
    judge: {model: "test:judge", otherwise: 1}
"""
SAID = Finding(code="reply", message="It says: half a \ud83d character")


def test_what_a_signal_found_is_kept_where_it_can_be_erased() -> None:
    """A finding of a signal is read back with it; the lasting part does not hold its words."""
    judge = FakeJudge(ModelFailed("invalid_json", detail={"asked": "test:judge"}, findings=[SAID]))
    with temporary_gate(POLICY, judge=judge) as gate:
        decision = gate.decide_sync(slice_key="notes", task="t", output="Hello.")
    body, answer = encode_body(decision), encode_answer(decision)
    assert b"It says" not in body
    judged = {one.name: one for one in decode(splice(body, answer)).signals}["judge"]
    assert (judged.kind, judged.reason) == (SignalKind.JUDGE, "invalid_json")
    assert [one.message for one in judged.findings] == ["It says: half a ? character"]
    erased = json.loads(splice(body, None))
    assert "findings" not in erased
    assert decode(splice(body, None)).id == decision.id
