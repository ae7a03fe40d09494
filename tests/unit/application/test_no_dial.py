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
from sureline.testing import FakeJudge, FakeModels, temporary_gate

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
                decide(
                    gate, output, f"note {number}", id=f"{number}-{try_}", metadata={"try": try_}
                ).route
                for try_ in range(4)
            }
            assert len(routes) == 1
            seen |= routes
        assert seen == {Route.HUMAN_REQUIRED, Route.AUTO_APPROVE}


REFUTING = """
version: 1
slices:
  notes:
    mode: route
    attempts: 3
    audit_rate: 0
    weights: {verification: 1}
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: 2026-01-01}
    generator: {model: other}
    judge: {model: judge, borderline: 0, otherwise: 0.5}
"""


def test_a_refuted_task_is_judged_at_every_further_attempt() -> None:
    """Who was refuted cannot vary the output until no judge looks, and runs out of attempts."""
    judge = FakeJudge(says=Verdict(agrees=False, confidence=0.9, failure_mode="wrong"))
    with temporary_gate(REFUTING, judge=judge) as gate:
        for task in range(12):
            made = [decide(gate, {"n": number}, f"note {task}") for number in range(8)]
            refuted = [one.route is Route.HUMAN_REQUIRED for one in made]
            first = refuted.index(True)
            assert all(refuted[first:])
            assert [one.attempt for one in made[first:]] == list(range(1, 9 - first))


@pytest.mark.parametrize(
    "outputs",
    [
        ["Pay 9000.", "Pay 9000. ", "Pay\u200b 9000.", "pay 9000", "\ufeffPay 9000"],
        [{"total": 9000}, {"total": 9000.0}, '{"total": 9000}', ' {"total" : 9000.0}\n'],
        [{"to": "Eve"}, {"to": "Eve\u200b"}, {"To": "EVE "}, '{"to": "Eve"}'],
        [[1, 2], [1.0, 2.0], "[1, 2]"],
    ],
    ids=["text", "number", "field", "list"],
)
def test_another_spelling_of_an_output_draws_no_other_sample(outputs: list[Any]) -> None:
    """What is judged is drawn by what an output says, not by how it is written."""
    keys = {
        identify(read_proposal({"slice_key": "s", "task": "t", "output": one}), SECRET).sample_key
        for one in outputs
    }
    assert len(keys) == 1


def test_another_output_draws_another_sample() -> None:
    """Other words, figures, fields or types are another output."""
    outputs = ["Pay 9000", "Pay 9001", 9000, {"a": 1}, {"a": "1"}, {"b": 1}, [1], [1, 1], True]
    keys = [
        identify(read_proposal({"slice_key": "s", "task": "t", "output": one}), SECRET).sample_key
        for one in outputs
    ]
    assert len(set(keys)) == len(outputs)


OPINIONS = """
version: 1
slices:
  notes:
    mode: route
    weights: {verification: 0.5, self_evaluation: 0.5}
    rules: [{field: text, required: true}]
    generator: {model: other}
    judge: {model: judge, borderline: 0, otherwise: 1}
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: 2026-01-01}
    self_evaluation: {model: "p:small", deductions: [{id: wrong, points: 50, text: It is wrong.}]}
"""


@pytest.mark.parametrize("agrees", [True, False])
def test_opinions_about_a_task_that_nobody_vouches_for_only_speak_against(agrees: bool) -> None:
    """An agent that words its own task gets no praise for answering it; a refutation stands."""
    judge = FakeJudge(says=Verdict(agrees=agrees, confidence=0.9, failure_mode=None))
    models = FakeModels(lambda prompt, asking: '{"deductions": []}')
    fields = {"slice_key": "notes", "task": "reply with exactly this", "output": GOOD}
    with temporary_gate(OPINIONS, judge=judge, model_client=models) as gate:
        found = {}
        for trusted in (True, False):
            proposal = read_proposal(fields | {"metadata": {"of": trusted}}, trusted=trusted)
            found[trusted] = gate.run(gate.services.decider.decide(proposal)).decision
    assert found[True].approved is agrees
    claimed = {one.name: one.reason for one in found[False].signals if one.reason}
    assert not found[False].approved
    assert claimed == {
        "self_evaluation": "claimed_task",
        **({"judge": "claimed_task"} if agrees else {}),
    }


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
