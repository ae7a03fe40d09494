"""What an opinion is counted as follows from its signal alone, whatever is in its detail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.canonical import json_bytes
from sureline.core.values.model_card import ModelCard, Usage
from sureline.core.values.opinion_use import (
    AGAINST,
    ANSWERED,
    ASKED,
    DURATIONS,
    FIGURES,
    End,
    OpinionKey,
    uses_in,
    uses_of,
)
from sureline.core.values.signal import Signal, SignalKind

JUDGE = SignalKind.JUDGE


def uses(*signals: Signal) -> list[tuple[OpinionKey, dict[str, int]]]:
    body = {
        one.name: {
            "state": one.state,
            "value": one.value,
            "kind": one.kind,
            "reason": one.reason,
            "detail": one.detail,
        }
        for one in signals
    }
    read = list(uses_in(json_bytes({"signals": body})))
    assert read == list(uses_of(signals)), "counted while deciding as from the ledger"
    return [(key, dict(zip(FIGURES, found, strict=True))) for key, found in read]


@pytest.mark.parametrize(
    ("signal", "end", "reason"),
    [
        pytest.param(Signal.measured("judge", JUDGE, 1.0), End.AGREED, "", id="agreed"),
        pytest.param(
            Signal.measured("judge", JUDGE, 0.0, detail={"verdict": "refuted"}),
            End.REFUTED,
            "",
            id="refuted",
        ),
        pytest.param(
            Signal.not_applicable("judge", JUDGE, "inconclusive"), End.INCONCLUSIVE, "", id="weak"
        ),
        pytest.param(Signal.measured("e", JUDGE, 0.35), End.DISAGREED, "", id="low value"),
        pytest.param(Signal.measured("e", JUDGE, 0.5), End.AGREED, "", id="one half"),
        pytest.param(Signal.failed("e", JUDGE, "timeout"), End.FAILED, "timeout", id="failed"),
        pytest.param(
            Signal.failed("e", JUDGE, "it said: 'no'"), End.FAILED, "other", id="free words"
        ),
        pytest.param(
            Signal.not_applicable("c", JUDGE, "too_few"), End.NOT_APPLICABLE, "too_few", id="n/a"
        ),
        pytest.param(Signal.not_sampled("judge", JUDGE), End.NOT_SAMPLED, "", id="not sampled"),
    ],
)
def test_how_an_opinion_ended(signal: Signal, end: End, reason: str) -> None:
    """Each state of a signal is one end, and only a code is a reason."""
    ((key, _),) = uses(signal)
    assert (key.end, key.reason) == (end, reason)


def test_signals_without_a_model_are_not_counted() -> None:
    """Checks and reports are no opinions; a signal of another kind with a model's card is one."""
    check = Signal.measured("verification", SignalKind.DETERMINISTIC, 1.0)
    own = Signal.measured("consistency", SignalKind.SELF_REPORT, 0.8, detail={"asked": "a:b"})
    assert uses(check) == []
    assert [key.signal for key, _ in uses(check, own)] == ["consistency"]


def test_a_card_is_counted_as_it_is() -> None:
    """Cost in millionths, milliseconds, tokens, calls and retries come from the card."""
    usage = Usage(input_tokens=10, output_tokens=2, cost=0.0000125, seconds=0.7, calls=2, retries=1)
    card = ModelCard(asked="p:m", answered="m-1", usage=usage)
    ((key, figures),) = uses(Signal.measured("judge", JUDGE, 1.0, detail=card.detail))
    assert (key.asked, key.answered) == ("p:m", "m-1")
    assert DURATIONS[key.duration - 1] < 700 <= DURATIONS[key.duration]
    assert figures == {
        "count": 1, "value": 1_000_000, "valued": 1, "cost": 12, "costed": 1, "ms": 700,
        "timed": 1, "input_tokens": 10, "output_tokens": 2, "metered": 1, "calls": 2,
        "retries": 1, "cached": 0,
    }  # fmt: skip


def test_a_kept_reply_costs_nothing_and_has_no_duration() -> None:
    """What was not asked is known to have cost nothing, and says nothing about latency."""
    usage = Usage(cost=0.5, seconds=9.0, cached=True)
    card = ModelCard(asked="p:m", answered="m-1", usage=usage)
    ((key, figures),) = uses(Signal.measured("judge", JUDGE, 1.0, detail=card.detail))
    assert (figures["cost"], figures["costed"], figures["cached"]) == (0, 1, 1)
    assert (figures["timed"], key.duration) == (0, -1)


def test_each_judge_of_a_panel_is_counted_with_what_it_took() -> None:
    """The panel's verdict has no cost of its own, so that no dollar is counted twice."""
    cards = [
        {"asked": "a:x", "model": "x-1", "agrees": True, "confidence": 0.9, "cost": 0.01, "ms": 9},
        {"asked": "b:y", "model": "y-1", "agrees": False, "confidence": 0.9, "cost": 0.02, "ms": 7},
        {"asked": "c:z", "reason": "timeout"},
    ]
    detail = {"cards": cards, "verdict": "refuted", "n_judges": "2 of 3", "cost": 0.03, "calls": 2}
    found = uses(Signal.measured("judge", JUDGE, 0.0, detail=detail))
    assert [(key.asked, key.end, key.reason, figures["cost"]) for key, figures in found] == [
        ("panel of 3", End.REFUTED, "", 0),
        ("a:x", End.AGREED, "", 10_000),
        ("b:y", End.DISAGREED, "", 20_000),
        ("c:z", End.FAILED, "timeout", 0),
    ]
    assert [figures["costed"] for _, figures in found] == [0, 1, 1, 0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["asked", "model", "cost", "ms", "input_tokens", "output_tokens", "calls", "cached", "cards"]
)


@given(
    entry=st.dictionaries(st.sampled_from(["state", "value", "reason"]), JSON)
    | st.fixed_dictionaries({"state": st.just("measured"), "value": JSON}),
    detail=st.dictionaries(NAMES, JSON) | JSON,
)
def test_any_detail_gives_whole_figures_of_0_or_more(entry: dict[str, Any], detail: Any) -> None:
    """Whatever a plug-in writes, the figures are whole numbers that a table can hold."""
    body = {"signals": {"judge": {**entry, "detail": detail, "kind": "judge"}}}
    try:
        encoded = json_bytes(body)
    except Exception:  # noqa: BLE001 - what JSON cannot say never reaches a ledger
        return
    for key, figures in uses_in(encoded):
        assert all(isinstance(one, int) and 0 <= one < 2**53 for one in figures)
        assert -1 <= key.duration < len(DURATIONS)
        assert len(key.reason) < 50


def test_ends_fall_into_asked_and_answered() -> None:
    """What was answered was asked, and what speaks against an output was answered."""
    assert AGAINST < ANSWERED < ASKED < set(End)
