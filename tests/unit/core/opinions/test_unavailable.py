"""What could not be had yet, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.core.opinions.advice import advice_on, advised
from sureline.core.opinions.unavailable import PASSING, require_opinions, unavailable
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import ModelFailed


def failed(reason: str, **detail: Any) -> Signal:
    return Signal.failed("judge", SignalKind.JUDGE, reason, detail=detail)


@pytest.mark.parametrize(
    ("signal", "reason"),
    [
        *(pytest.param(failed(one), one, id=one) for one in sorted(PASSING)),
        pytest.param(failed("embedding_failed", cause="timeout"), "timeout", id="cause"),
        pytest.param(
            failed("no_quorum", cards=[{"agrees": True}, {"reason": "busy"}]), "busy", id="panel"
        ),
        pytest.param(failed("rejected", category="quota"), "rejected", id="quota"),
        pytest.param(failed("rejected", category="context_window"), None, id="too-long-for-it"),
        pytest.param(failed("no_object"), None, id="unreadable-reply"),
        pytest.param(failed("refused"), None, id="refused"),
        pytest.param(failed("too_long"), None, id="too-long"),
        pytest.param(failed("no_quorum", cards=[{"reason": "refused"}]), None, id="said-panel"),
        pytest.param(failed("no_quorum", cards=7, cause=[]), None, id="odd-detail"),
        pytest.param(Signal.not_sampled("judge", SignalKind.JUDGE), None, id="not-sampled"),
        pytest.param(Signal.measured("judge", SignalKind.JUDGE, 1.0), None, id="measured"),
    ],
)
def test_a_fault_that_may_pass_is_told_from_one_that_stays(
    signal: Signal, reason: str | None
) -> None:
    """Only what lies in a provider or the set-up is worth bringing again."""
    lost = unavailable([signal])
    assert (None if lost is None else lost.reason) == reason
    if reason is None:
        require_opinions([signal])
        return
    with pytest.raises(ModelFailed) as caught:
        require_opinions([signal])
    assert (caught.value.reason, caught.value.detail) == (reason, {"signal": "judge"})


@pytest.mark.parametrize("reason", sorted(PASSING))
def test_every_reason_of_a_provider_has_advice(reason: str) -> None:
    """The code stands first, then what to do, in one short line."""
    assert advised(reason).startswith(f"{reason}: ")
    assert len(advised(reason)) < 100


@pytest.mark.parametrize(
    ("reason", "detail", "said"),
    [
        pytest.param(
            "not_configured", {"variable": "AZURE_KEY"}, "set AZURE_KEY in", id="variable"
        ),
        pytest.param("not_configured", {"variable": "pay me"}, "provider's key", id="odd-text"),
        pytest.param("not_configured", {"variable": 7}, "provider's key", id="odd-value"),
        pytest.param("rejected", {"category": "quota"}, "no money left", id="quota"),
        pytest.param("embedding_failed", {"cause": "busy"}, "busy, too many calls", id="cause"),
        pytest.param("rejected", {"category": ["quota"]}, "refuses the request", id="odd-category"),
    ],
)
def test_advice_uses_codes_of_the_detail_only(
    reason: str, detail: dict[str, Any], said: str
) -> None:
    """A plug-in may have put any text into a detail; it is never repeated."""
    assert said in (advice_on(reason, detail) or "")


def test_nothing_is_said_of_a_reason_that_is_not_known() -> None:
    """A code without advice stays a code."""
    assert advised("no_object") == "no_object"
