"""The signal `judge` of whatever a judge, also a plugged-in one, gives back."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.core.gate.judging import judge_signal
from sureline.core.values.policy import JudgePolicy, SlicePolicy
from sureline.core.values.signal import SignalState
from sureline.core.values.verdict import Verdict

POLICY = SlicePolicy(key="s", judge=JudgePolicy(model="m"))


def verdict(**given: Any) -> Verdict:
    return Verdict(**{"agrees": False, "confidence": 0.9, **given})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(None, "not_a_verdict", id="none"),
        pytest.param(True, "not_a_verdict", id="a-boolean"),
        pytest.param({"agrees": True, "confidence": 1.0}, "not_a_verdict", id="a-mapping"),
        pytest.param(verdict(agrees="false"), "agrees_not_boolean", id="text"),
        pytest.param(verdict(agrees=1), "agrees_not_boolean", id="one"),
        pytest.param(verdict(confidence=85), "out_of_range", id="85"),
        pytest.param(verdict(confidence=float("nan")), "not_finite", id="nan"),
        pytest.param(verdict(confidence=None), "not_a_number", id="no-confidence"),
        pytest.param(verdict(confidence=True), "not_a_number", id="true-confidence"),
        pytest.param(verdict(confidence="0.9"), "not_a_number", id="text-confidence"),
    ],
)
def test_what_is_no_verdict_has_failed(given: object, reason: str) -> None:
    """Types that Python would coerce are not coerced."""
    signal = judge_signal(given, POLICY)
    assert (signal.state, signal.reason, signal.value) == (SignalState.FAILED, reason, None)


@pytest.mark.parametrize(
    ("mode", "reason", "code", "words"),
    [
        pytest.param("invented", None, "invented", [], id="code"),
        pytest.param("invented", "No such IBAN.", "invented", ["No such IBAN."], id="both"),
        pytest.param(None, "No such IBAN.", None, ["No such IBAN."], id="words"),
        pytest.param("IBAN DE44", "No.", "other", ["IBAN DE44: No."], id="words-for-a-code"),
        pytest.param("x" * 41, None, "other", ["x" * 41], id="long"),
        pytest.param(7, ["No."], "other", [], id="no-texts"),
        pytest.param(None, None, None, [], id="nothing"),
    ],
)
def test_a_judges_words_never_stay_for_ever(
    mode: Any, reason: Any, code: str | None, words: list[str]
) -> None:
    """Codes go into the detail, words, which may quote the output, into erasable findings."""
    signal = judge_signal(verdict(failure_mode=mode, reason=reason), POLICY)
    assert signal.detail["failure_mode"] == code
    assert [one.message for one in signal.findings] == words
    assert not any(said in str(signal.detail) for said in words)
