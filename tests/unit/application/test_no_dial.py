"""The agent holds no dial: neither ids nor wording nor repetition move a decision (G34)."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.application.identify import identify
from sureline.application.intake import read_proposal
from sureline.core.values.decision import Decision, Route
from sureline.core.values.verdict import Verdict
from sureline.errors import NotAllDecided, UnknownSlice
from sureline.gate import Gate
from sureline.testing import FakeJudge, temporary_gate

SECRET = b"secret"
POLICY = """
version: 1
slices:
  notes:
    mode: route
    attempts: 2
    audit_rate: 0.3
    reject_audit_rate: 0
    weights: {verification: 1}
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: 2026-01-01}
    rules:
      - {field: text, required: true, penalty: 0.3}
      - {field: total, between: [1, 10], penalty: 0.7}
"""
GOOD = {"text": "hello", "total": 5}
BAD = {"text": "hello", "total": 50}


def decide(gate: Gate, output: Any, task: str = "note", **more: Any) -> Decision:
    return gate.decide_sync(slice_key="notes", task=task, output=output, **more)


def test_another_id_is_judged_again_or_never() -> None:
    """An output that the judge refutes is not let through under another id."""
    judged = POLICY.replace(
        "    audit_rate: 0.3\n",
        "    judge: {model: judge, borderline: 0, otherwise: 0.5}\n    generator: {model: other}\n",
    )
    judge = FakeJudge(says=Verdict(agrees=False, confidence=0.9, failure_mode="wrong"))
    with temporary_gate(judged, judge=judge) as gate:
        seen = set()
        for number in range(30):
            output = {"text": f"hello {number}", "total": 5}
            routes = {
                decide(gate, output, id=f"{number}-{try_}", metadata={"try": try_}).route
                for try_ in range(4)
            }
            assert len(routes) == 1
            seen |= routes
        assert seen == {Route.HUMAN_REQUIRED, Route.AUTO_APPROVE}


def test_equal_outputs_are_audited_independently() -> None:
    """A hundred equal outputs are audited at the policy's rate, not all or none."""
    with temporary_gate(POLICY) as gate:
        drawn = sum(decide(gate, GOOD, id=f"n{number}").audit for number in range(100))
    assert 15 <= drawn <= 45


@pytest.mark.parametrize(
    "task",
    [
        *("Write  the note", "write the note ", "WRITE THE NOTE", "Write the note."),
        *(f"Write the note{hidden}" for hidden in "\u200b\u034f\ufe0f\u115f\u3164\u17b4"),
        *(f"Write the note{hidden}" for hidden in "\u180b\u2800\ufffc\x00\x1b\x7f"),
    ],
)
def test_spelling_makes_no_other_task(task: str) -> None:
    """Spaces, case, marks and invisible characters do not give an agent new attempts."""
    same = [
        identify(read_proposal({"slice_key": "s", "task": text, "output": 1}), SECRET)
        for text in ("Write the note", task)
    ]
    assert same[0].task_digest == same[1].task_digest


@pytest.mark.parametrize(
    "sources", [["S", ""], ["S", "\u200b "], ["S", "S"]], ids=["blank", "invisible", "twice"]
)
def test_blank_or_repeated_sources_make_no_other_task(sources: list[str]) -> None:
    """A source with nothing new in it does not give an agent new attempts."""
    digests = {
        identify(
            read_proposal(
                {
                    "slice_key": "s",
                    "task": "t",
                    "output": 1,
                    "source": [{"ref": str(n), "text": text} for n, text in enumerate(given)],
                }
            ),
            SECRET,
        ).task_digest
        for given in (["S"], sources)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("claim", [10**399, -(10**398), 2], ids=["huge", "huge negative", "two"])
def test_a_self_report_that_is_no_probability_never_stops_a_gate(claim: int) -> None:
    """An integer that no float holds is a failed signal, like any other claim out of range."""
    with temporary_gate(POLICY) as gate:
        decision = decide(gate, GOOD, self_report=claim)
    (signal,) = [one for one in decision.signals if one.name == "self_report"]
    assert (signal.state, signal.reason) == ("failed", "out_of_range")


def test_a_task_is_given_up_after_its_attempts() -> None:
    """However often an agent tries, after the last attempt a person decides."""
    with temporary_gate(POLICY) as gate:
        routes = [decide(gate, BAD | {"text": f"try {n}"}) for n in range(4)]
        assert [one.route for one in routes] == ["auto_reject", "abstain", "abstain", "abstain"]
        assert [one.attempt for one in routes] == [1, 2, 3, 4]
        late = decide(gate, GOOD)
        assert (late.attempt, late.route) == (5, "human_review")
        assert "too_many_attempts" in [reason.code for reason in late.reasons]
        assert decide(gate, GOOD, task="another note").approved


def test_a_retry_within_its_attempts_may_pass() -> None:
    """The second attempt is as good as the first."""
    with temporary_gate(POLICY) as gate:
        assert decide(gate, BAD).route == "auto_reject"
        assert decide(gate, GOOD).approved


def test_nothing_of_a_batch_is_lost() -> None:
    """One bad proposal does not lose the others' answers."""
    with temporary_gate(POLICY) as gate:
        batch = [
            {"slice_key": "notes", "task": "a", "output": GOOD},
            {"slice_key": "nowhere", "task": "b", "output": GOOD},
            {"slice_key": "notes", "task": "c", "output": GOOD},
        ]
        with pytest.raises(NotAllDecided, match="1 of 3") as raised:
            gate.run(gate.decide_many(batch))
        first, second, third = raised.value.results
        assert isinstance(first, Decision)
        assert isinstance(second, UnknownSlice)
        assert isinstance(third, Decision)


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(10**5000, id="huge integer"),
        pytest.param({"total": 10**5000}, id="huge integer inside"),
        pytest.param({"x": float("nan")}, id="nan"),
        pytest.param({"x": "\ud83d"}, id="lone surrogate"),
        pytest.param({"x": object()}, id="no JSON value"),
    ],
)
def test_an_output_that_is_no_json_is_rejected_and_recorded(output: Any) -> None:
    """What cannot be stored as it is is a failed check, never an exception."""
    with temporary_gate(POLICY) as gate:
        decision = decide(gate, output)
        assert decision.route == "auto_reject"
        assert "unreadable_output" in [reason.code for reason in decision.reasons]
        assert gate.run(gate.services.ledger.decision("default", decision.id)) is not None
