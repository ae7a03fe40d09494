"""What several judges conclude together."""

from __future__ import annotations

import pytest

from sureline.core.gate.judging import judge_signal
from sureline.core.opinions.panel import conclude, panel_detail, panel_words
from sureline.core.values.finding import Finding
from sureline.core.values.model_card import ModelCard, Usage
from sureline.core.values.policy import JudgePolicy, SlicePolicy
from sureline.core.values.signal import SignalState
from sureline.core.values.verdict import Verdict, Vote


def vote(says: bool | None, confidence: float = 0.9) -> Vote:
    """Return what a judge says: agrees, refutes, or nothing."""
    if says is None:
        return Vote(asked="m:x", fault="timeout", detail={"calls": 2})
    card = ModelCard(asked="m:x", answered="x-1")
    mode = None if says else "invented"
    return Vote(
        asked="m:x",
        verdict=Verdict(
            agrees=says, confidence=confidence, failure_mode=mode, reason="So it is.", card=card
        ),
    )


YES, NO, WEAK, LOST = vote(True), vote(False), vote(False, 0.5), vote(None)
POLICY = SlicePolicy(key="s", judge=JudgePolicy(model="m:x", panel=("m:y", "m:z")))
MEASURED, DROPPED = SignalState.MEASURED, SignalState.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("votes", "quorum", "expected"),
    [
        pytest.param((YES, YES, YES), 2, (MEASURED, 1.0), id="all-agree"),
        pytest.param((YES, LOST, YES), 2, (MEASURED, 1.0), id="two-of-three-agree"),
        pytest.param((YES, LOST, YES), 3, None, id="two-where-three-are-needed"),
        pytest.param((YES, LOST, LOST), 2, None, id="one-of-three"),
        pytest.param((LOST, LOST, LOST), 1, None, id="none"),
        pytest.param((YES, YES, NO), 2, (MEASURED, 0.0), id="one-refutes"),
        pytest.param((NO, LOST, LOST), 2, (MEASURED, 0.0), id="the-only-one-refutes"),
        pytest.param((YES, WEAK, YES), 2, (DROPPED, None), id="one-doubts"),
        pytest.param((WEAK, LOST, LOST), 2, None, id="the-only-one-doubts"),
        pytest.param((WEAK, NO, YES), 2, (MEASURED, 0.0), id="doubt-and-refutation"),
    ],
)
def test_a_panel_concludes(
    votes: tuple[Vote, ...], quorum: int, expected: tuple[SignalState, float | None] | None
) -> None:
    """One firm refutation refutes; agreement needs a quorum of which all agree."""
    verdict = conclude(votes, refute_at=0.6, quorum=quorum)
    if expected is None:
        assert verdict is None
        return
    signal = judge_signal(verdict, POLICY)
    assert (signal.state, signal.value) == expected
    assert signal.detail["n_judges"] == f"{sum(v.verdict is not None for v in votes)} of 3"


def test_a_panels_signal_has_the_card_of_each_judge() -> None:
    """Whoever answered, and whoever did not and why, can be looked up; words stay apart."""
    verdict = conclude((YES, LOST, NO), refute_at=0.6, quorum=2)
    signal = judge_signal(verdict, POLICY)
    agreed, lost, refuted = signal.detail["cards"]
    assert agreed == {"asked": "m:x", "agrees": True, "confidence": 0.9, "model": "x-1"}
    assert lost == {"asked": "m:x", "reason": "timeout", "calls": 2}
    assert refuted["failure_mode"] == signal.detail["failure_mode"] == "invented"
    assert "So it is." not in str(signal.detail)
    assert [one.message for one in signal.findings] == ["m:x: So it is."] * 2


def test_an_unreadable_reply_of_a_panel_is_kept_with_its_model() -> None:
    """A person can see which model said what could not be read."""
    broken = Vote(asked="m:z", fault="no_object", findings=(Finding(code="reply", message="Hm."),))
    assert panel_words((broken,)) == (Finding(code="reply", message="m:z: Hm."),)
    assert panel_detail((broken,))["n_judges"] == "0 of 1"


@pytest.mark.parametrize(
    ("panel", "quorum", "needed"),
    [((), None, 1), (("b",), None, 2), (("b", "c"), None, 2), (("b", "c"), 3, 3)],
)
def test_a_majority_must_answer_unless_the_policy_says_otherwise(
    panel: tuple[str, ...], quorum: int | None, needed: int
) -> None:
    """Of two judges both, of three two."""
    assert JudgePolicy(model="a", panel=panel, quorum=quorum).needed == needed


def test_what_a_panel_took_is_told_where_it_is_known() -> None:
    """Calls, tokens and money add up, time does not; what one did not tell is not made up."""

    def took(cost: float | None, seconds: float) -> Vote:
        usage = Usage(input_tokens=10, output_tokens=5, cost=cost, seconds=seconds)
        card = ModelCard(asked="m:x", usage=usage)
        return Vote(asked="m:x", verdict=Verdict(agrees=True, confidence=1.0, card=card))

    detail = panel_detail((took(0.5, 1.0), took(0.25, 2.0), Vote(asked="m:y", fault="timeout")))
    told = {key: detail.get(key) for key in ("input_tokens", "cost", "ms", "calls")}
    assert told == {"input_tokens": 20, "cost": 0.75, "ms": 2000, "calls": 2}
    assert "cost" not in panel_detail((took(0.5, 1.0), took(None, 2.0)))
