"""Evidence within a bound: what is kept, and that all the rest is counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.mission.gathering import bounded, characters, gathered, shortened
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn

MOST = 10_000


def turns(count: int, *, length: int = 300, start: int = 0) -> tuple[Turn, ...]:
    return tuple(
        Turn(role="agent", text=f"{n} {'x' * length}") for n in range(start, start + count)
    )


def calls(count: int, *, result: Any = "ok") -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name="write_file", arguments={"n": n}, result=result, ok=True)
        for n in range(count)
    )


def numbers(evidence: Evidence) -> list[str]:
    return [one.text.split()[0] for one in evidence.conversation]


def test_what_fits_stays_as_it_is() -> None:
    """Nothing is shortened, however its parts are spread, as long as all of it fits."""
    evidence = Evidence(state={"ledger": "x" * 9_000}, conversation=turns(2), answer="Done.")
    assert bounded(evidence, MOST) is evidence


def test_the_newest_turns_are_kept_and_the_others_counted() -> None:
    """Of 85 turns that do not fit the newest stay, in their order."""
    kept = bounded(Evidence(conversation=turns(85)), MOST)
    assert numbers(kept) == [str(n) for n in range(85 - len(kept.conversation), 85)]
    assert kept.cut.turns == 85 - len(kept.conversation) > 0


def test_results_of_tools_are_kept_however_long_the_conversation() -> None:
    """Half of the room is the tools' (M10, M11): the newest call keeps its result."""
    evidence = Evidence(conversation=turns(500), calls=calls(20, result="wrote summary.txt"))
    kept = bounded(evidence, MOST)
    assert kept.calls == evidence.calls
    assert kept.cut.calls == 0 < kept.cut.turns


def test_a_long_result_keeps_its_beginning_and_end() -> None:
    """What is cut from the middle is counted, and said where it was."""
    call = ToolCall(name="read", arguments={"path": "a"}, result=f"first {'x' * 50_000} last")
    kept = bounded(Evidence(calls=(call,)), MOST)
    result = kept.calls[0].result
    assert result.startswith("first ")
    assert result.endswith(" last")
    assert f"{kept.cut.characters} characters left out" in result
    assert kept.calls[0].arguments == {"path": "a"}


def test_a_result_comes_before_its_arguments() -> None:
    """Of a call whose both parts are long the result keeps more."""
    call = ToolCall(name="write", arguments="a" * 90_000, result="r" * 90_000)
    kept = bounded(Evidence(calls=(call,)), MOST).calls[0]
    assert len(kept.result) > 2 * len(kept.arguments) > 1_000


def test_a_state_that_is_too_long_becomes_its_text() -> None:
    """A cut JSON value is none any more, and is shown as the text that it was."""
    kept = bounded(Evidence(state={"rows": ["x" * 100] * 1_000}), MOST)
    assert isinstance(kept.state, str)
    assert kept.state.startswith('{"rows":["xxx')


def test_what_was_cut_before_is_added() -> None:
    """Counts only ever grow: what was cut twice was cut twice."""
    evidence = Evidence(conversation=turns(85), cut=Cut(turns=5, calls=3, characters=7))
    kept = bounded(evidence, MOST)
    assert kept.cut == Cut(turns=5 + 85 - len(kept.conversation), calls=3, characters=7)


def test_invocations_add_up_until_one_is_judged() -> None:
    """An earlier answer stays as a turn, an earlier state until there is another."""
    first = Evidence(conversation=turns(1), calls=calls(1), state={"open": 6}, answer="One closed.")
    second = Evidence(conversation=turns(1, start=1), calls=calls(1), answer="Two closed.")
    both = gathered(first, second, fresh=False, most=MOST)
    assert [one.text for one in both.conversation if one.role == "answer"] == ["One closed."]
    assert (len(both.calls), both.state, both.answer) == (2, {"open": 6}, "Two closed.")


def test_an_answer_that_ends_the_conversation_is_not_told_twice() -> None:
    """A loop that hands in its final message as a turn and as the answer says it once."""
    first = Evidence(conversation=(Turn(role="agent", text="Done."),), answer="Done.")
    both = gathered(first, Evidence(), fresh=False, most=MOST)
    assert both.conversation == first.conversation


def test_what_was_judged_makes_room_and_counts_as_nothing_cut() -> None:
    """After an evaluation the earlier evidence is a tail; only what is new can be missing."""
    before = replace(Evidence(conversation=turns(20)), cut=Cut(turns=65, characters=4))
    new = Evidence(conversation=turns(25, start=100))
    kept = gathered(before, new, fresh=True, most=MOST)
    assert kept.cut == Cut()
    assert numbers(kept)[-25:] == [str(n) for n in range(100, 125)]
    assert 25 < len(kept.conversation) < 45
    assert gathered(before, new, fresh=False, most=MOST).cut.turns > 65


@pytest.mark.parametrize("most", [0, 1, 30, 60, 61, 100, 1_000])
def test_a_shortened_text_is_as_short_as_asked(most: int) -> None:
    """Its length is bounded and what was left out is counted, mark or none."""
    text = "0123456789" * 100
    short, removed = shortened(text, most)
    assert len(short) <= most
    assert (removed == 0) is (short == text)
    assert removed >= len(text) - len(short)


TEXT = st.text(max_size=400)
JSON = st.one_of(st.none(), TEXT, st.integers(), st.dictionaries(TEXT, TEXT, max_size=4))
EVIDENCE = st.builds(
    Evidence,
    conversation=st.lists(st.builds(Turn, role=TEXT, text=TEXT), max_size=12).map(tuple),
    calls=st.lists(st.builds(ToolCall, name=TEXT, arguments=JSON, result=JSON), max_size=8).map(
        tuple
    ),
    state=JSON,
    trigger=st.none() | TEXT,
    answer=st.none() | TEXT,
)


@given(before=EVIDENCE, new=EVIDENCE, fresh=st.booleans(), most=st.integers(0, 4_000))
def test_the_bound_holds(before: Evidence, new: Evidence, fresh: bool, most: int) -> None:
    """Whatever is gathered takes no more than the bound, and bounding it again changes nothing."""
    kept = gathered(before, new, fresh=fresh, most=most)
    assert characters(kept) <= most
    assert bounded(kept, most) is kept


@given(evidence=EVIDENCE, most=st.integers(0, 4_000))
def test_each_item_is_kept_or_counted(evidence: Evidence, most: int) -> None:
    """Items that were cut and items that are there are all that there were."""
    kept = bounded(evidence, most)
    assert len(kept.conversation) + kept.cut.turns == len(evidence.conversation)
    assert len(kept.calls) + kept.cut.calls == len(evidence.calls)
