"""What is wrong with a proposal is said in plain words, by field."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.application.intake import ProposalFields, read_proposal
from sureline.application.policy_cases import read_case
from sureline.errors import InvalidInput
from sureline.web.api.shapes import OutcomeFields
from sureline.web.operation import Operation

GOOD = {"slice_key": "notes", "task": "write", "output": 1}
DOCUMENT = {"ref": "a", "text": "b"}
JARGON = ("Input should", "Extra inputs", "valid string", "dictionary", "constrained", "Fields]")


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        pytest.param(
            {"source": 5},
            "source",
            "expected a text or a list of objects with ref and text, got a number",
            id="neither of two",
        ),
        pytest.param({"source": DOCUMENT}, "source", "got an object", id="no list around it"),
        pytest.param({"source": ["a"]}, "source.0", "expected an object, got a text", id="entry"),
        pytest.param(
            {"source": [DOCUMENT, {"ref": "a"}]}, "source.1.text", "is needed", id="entry's field"
        ),
        pytest.param(
            {"source": [{**DOCUMENT, "txt": "b"}]}, "source.0.txt", "did you mean text?", id="deep"
        ),
        pytest.param({"source": "\ud800"}, "source", "whole characters", id="half a character"),
        pytest.param({"sorce": "b"}, "sorce", "did you mean source?", id="misspelt"),
        pytest.param({"slice": "b"}, "slice", "did you mean slice_key?", id="shortened"),
        pytest.param({"zzz": "b"}, "zzz", "the fields are action_class, ", id="unlike any"),
        pytest.param({"generator": "m"}, "generator", "expected an object", id="object"),
        pytest.param({"generator": {}}, "generator.model", "is needed", id="inner field"),
        pytest.param({"stakes": "dire"}, "stakes", "expected reversible, high_cost or", id="enum"),
        pytest.param({"logprobs": ["a"]}, "logprobs.0", "expected a number", id="list of numbers"),
        pytest.param({"logprobs": ["a"] * 50}, "logprobs.0", "and 30 more", id="many faults"),
        pytest.param({"logprobs": [True]}, "logprobs.0", "expected a number", id="no truth value"),
        pytest.param(
            {"generations": [1] * 65}, "generations", "at most 64 entries", id="generations"
        ),
        pytest.param({"deadline": 0}, "deadline", "expected more than 0", id="too small"),
        pytest.param({"deadline": 9e9}, "deadline", "expected at most 3600", id="too large"),
        pytest.param({"force_human": 1}, "force_human", "expected true or false", id="truth"),
        pytest.param({"metadata": {1: 2}}, "metadata.1", "expected texts as names", id="name"),
        pytest.param({"id": ""}, "id", "expected at least 1 character", id="empty"),
        pytest.param({"id": "x" * 201}, "id", "expected at most 200 characters", id="long"),
    ],
)
def test_a_fault_is_said_in_plain_words(given: dict[str, Any], field: str, said: str) -> None:
    """The first field at fault is named as the caller wrote it, with what was expected there."""
    with pytest.raises(InvalidInput) as raised:
        read_proposal({**GOOD, **given})
    assert raised.value.field == field
    assert said in raised.value.message
    assert not any(word in raised.value.message for word in JARGON)


@pytest.mark.parametrize("raw", [[], "text", None], ids=["list", "text", "nothing"])
def test_what_is_no_object_is_said_of_the_whole(raw: Any) -> None:
    """Without fields the proposal itself is at fault."""
    with pytest.raises(InvalidInput, match=r"^proposal: expected an object") as raised:
        read_proposal(raw)
    assert raised.value.field == "proposal"


def test_every_missing_field_is_named() -> None:
    """All faults are told at once, and nothing of the input is quoted."""
    with pytest.raises(InvalidInput, match=r"slice_key: .*; task: .*; output: .* is needed$"):
        read_proposal({})
    with pytest.raises(InvalidInput) as raised:
        read_proposal({**GOOD, "id": "SECRET" * 50, "evidence": "SECRET"})
    assert "SECRET" not in raised.value.message


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        pytest.param({}, "expect", "is needed", id="missing"),
        pytest.param({"expect": 5}, "expect", "expected an object or auto_approve", id="number"),
        pytest.param({"expect": {"rout": 1}}, "expect.route", "did you mean route?", id="misspelt"),
        pytest.param(
            {"expect": "human_review", "now": "2026-01-01"}, "now", "with a zone", id="no zone"
        ),
        pytest.param(
            {"expect": "human_review", "signals": {"a": 2}}, "signals.a", "at most 1", id="range"
        ),
    ],
)
def test_a_case_is_told_in_the_same_words(given: dict[str, Any], field: str, said: str) -> None:
    """The keys of a written case are named like those of a proposal."""
    with pytest.raises(InvalidInput) as raised:
        read_case({**GOOD, **given}, 1)
    assert raised.value.field == field
    assert said in raised.value.message
    assert not any(word in raised.value.message for word in JARGON)


def test_a_body_is_told_in_the_same_words() -> None:
    """A body's unknown field has a neighbour, and its actions are listed."""
    operation = Operation(
        method="POST", path="/", name="x", about="", run=None, answers={}, body=OutcomeFields
    )  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="did you mean comment") as raised:
        operation.read({"decision_id": "a", "action": "bless", "coment": "x"})
    assert "action: expected approve, reject, edit, skip, escalate or expired" in str(raised.value)


def test_every_field_stands_once() -> None:
    """What a proposal may hold is listed without repeats."""
    listed = read_fields()
    assert len(listed) == len(set(listed)) == len(ProposalFields.__annotations__)


def read_fields() -> list[str]:
    """Return the fields that an unknown one is answered with."""
    with pytest.raises(InvalidInput) as raised:
        read_proposal({**GOOD, "zzz": 1})
    return raised.value.message.rpartition("the fields are ")[2].split(", ")
