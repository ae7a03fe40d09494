"""Evidence as it is handed in: what is taken, what is refused, and that too much costs little."""

from __future__ import annotations

import json
import math
import tracemalloc
from datetime import date
from types import MappingProxyType
from typing import Any

import pytest

from sureline.application.mission.evidence_intake import MOST_CHARACTERS, MOST_ITEMS, read_evidence
from sureline.core.mission.gathering import characters
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn
from sureline.errors import InvalidInput

GIVEN: dict[str, Any] = {
    "conversation": [{"role": "agent", "text": "I close dispute 3."}],
    "calls": [{"name": "close", "arguments": {"id": 3}, "result": {"ok": True}, "ok": True}],
    "state": {"open": 3},
    "trigger": "timer",
    "answer": "Closed.",
    "tokens": 120,
    "cost": 0.25,
    "model": "one:alpha-9",
    "cut": {"turns": 2},
}
TAKEN = Evidence(
    conversation=(Turn(role="agent", text="I close dispute 3."),),
    calls=(ToolCall(name="close", arguments={"id": 3}, result={"ok": True}, ok=True),),
    state={"open": 3},
    trigger="timer",
    answer="Closed.",
    tokens=120,
    cost=0.25,
    model="one:alpha-9",
    cut=Cut(turns=2),
)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        pytest.param(None, Evidence(), id="none"),
        pytest.param({}, Evidence(), id="empty"),
        pytest.param(dict.fromkeys(GIVEN), Evidence(), id="nulls"),
        pytest.param(GIVEN, TAKEN, id="all"),
        pytest.param(MappingProxyType(GIVEN), TAKEN, id="another_mapping"),
        pytest.param(json.loads(json.dumps(GIVEN)), TAKEN, id="from_json"),
        pytest.param(TAKEN, TAKEN, id="as_a_value"),
        pytest.param({"cost": 1, "tokens": 0}, Evidence(cost=1.0, tokens=0), id="whole_dollars"),
        pytest.param({"answer": ""}, Evidence(answer=""), id="said_nothing"),
        pytest.param({"state": "open: 3"}, Evidence(state="open: 3"), id="state_is_text"),
        pytest.param({"answer": "caf\udce9"}, Evidence(answer="caf?"), id="half_a_character"),
    ],
)
def test_what_is_handed_in_is_taken(given: Any, taken: Evidence) -> None:
    """Fields come in as they are meant, from JSON, keywords or values of ours."""
    assert read_evidence(given) == taken


REFUSED: dict[str, tuple[Any, str]] = {
    "a_list": ([], "evidence"),
    "a_text": ("done", "evidence"),
    "an_unknown_field": ({"convo": []}, "convo"),
    "an_unknown_field_of_a_turn": (
        {"conversation": [{"role": "a", "text": "b", "score": 1}]},
        "conversation.0.score",
    ),
    "a_turn_without_text": ({"conversation": [{"role": "a"}]}, "conversation.0.text"),
    "a_turn_that_is_none": ({"conversation": ["hello"]}, "conversation.0"),
    "a_conversation_as_text": ({"conversation": "hello"}, "conversation"),
    "a_call_without_name": ({"calls": [{"result": 1}]}, "calls.0.name"),
    "ok_as_a_number": ({"calls": [{"name": "a", "ok": 1}]}, "calls.0.ok"),
    "nan_in_a_result": ({"calls": [{"name": "a", "result": [math.nan]}]}, "calls.0.result"),
    "a_date_in_arguments": (
        {"calls": [{"name": "a", "arguments": {"on": date(2026, 1, 5)}}]},
        "calls.0.arguments",
    ),
    "a_number_as_key": ({"state": {1: 2}}, "state"),
    "a_state_too_deep": ({"state": json.loads("[" * 80 + "]" * 80)}, "state"),
    "negative_tokens": ({"tokens": -1}, "tokens"),
    "true_tokens": ({"tokens": True}, "tokens"),
    "tokens_with_a_point": ({"tokens": 12.0}, "tokens"),
    "tokens_as_text": ({"tokens": "12"}, "tokens"),
    "more_tokens_than_there_are": ({"tokens": 10**18}, "tokens"),
    "nan_cost": ({"cost": math.nan}, "cost"),
    "infinite_cost": ({"cost": math.inf}, "cost"),
    "negative_cost": ({"cost": -0.01}, "cost"),
    "true_cost": ({"cost": True}, "cost"),
    "no_model": ({"model": ""}, "model"),
    "a_negative_cut": ({"cut": {"turns": -3}}, "cut.turns"),
    "a_value_of_ours_with_nan": (Evidence(cost=math.nan), "cost"),
}


@pytest.mark.parametrize(("given", "field"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_refused_by_name(given: Any, field: str) -> None:
    """The field is named with what was expected; nothing is guessed or dropped."""
    with pytest.raises(InvalidInput) as refused:
        read_evidence(given)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")


BIG = 50_000_000
MUCH: dict[str, tuple[Any, tuple[bool, bool, bool]]] = {
    "one_turn": ({"conversation": [{"role": "a", "text": "x" * BIG}]}, (False, False, True)),
    "many_turns": (
        {"conversation": [{"role": "a", "text": "x" * 50}] * (BIG // 50)},
        (True, False, False),
    ),
    "many_calls": (
        {"calls": [{"name": "a", "result": "x" * 500}] * (BIG // 500)},
        (False, True, True),
    ),
    "one_result": ({"calls": [{"name": "a", "result": "x" * BIG}]}, (False, False, True)),
    "one_answer": ({"answer": "x" * BIG}, (False, False, True)),
    "state": ({"state": {"rows": ["x" * 1_000] * (BIG // 1_000)}}, (False, False, True)),
}


@pytest.mark.parametrize(("given", "cut"), MUCH.values(), ids=MUCH)
def test_fifty_megabytes_are_cut_and_counted(given: Any, cut: tuple[bool, bool, bool]) -> None:
    """Too much is no error: the newest is taken, and no more memory than what was given."""
    tracemalloc.start()
    taken = read_evidence(given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert characters(taken) <= MOST_CHARACTERS
    found = taken.cut
    assert (found.turns > 0, found.calls > 0, found.characters > 0) == cut
    assert len(taken.conversation) + len(taken.calls) <= MOST_ITEMS
    assert peak < 5 * BIG


def test_what_was_not_looked_at_is_counted_by_its_place() -> None:
    """A fault is named by its place in what was handed in, however much that was."""
    turns = [{"role": "a", "text": "b"}] * (MOST_ITEMS + 5)
    assert read_evidence({"conversation": turns}).cut == Cut(turns=5)
    calls = [{"name": "a", "result": math.nan if n == 1_003 else n} for n in range(1_005)]
    with pytest.raises(InvalidInput) as refused:
        read_evidence({"calls": calls})
    assert refused.value.field == "calls.1003.result"


def test_evidence_is_what_it_was_when_it_was_handed_in() -> None:
    """An actor that changes its state afterwards changes nothing that is judged."""
    state = {"open": [1, 2]}
    result = [1]
    taken = read_evidence({"state": state, "calls": [{"name": "a", "result": result}]})
    state["open"].clear()
    result.append(2)
    assert (taken.state, taken.calls[0].result) == ({"open": [1, 2]}, [1])
