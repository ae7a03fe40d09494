"""Whether a mission is well and within its budget, with the figures that say so (M10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sureline.core.mission.health import Trip, added, counted, trip
from sureline.core.values.mission import Cause, Spent, Tally
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn
from sureline.core.values.mission_kind import Budget, HealthLimits
from tests.a_mission import KIND, a_mission

DEFAULTS = HealthLimits()


def calls(names: str, failed: str = "") -> tuple[ToolCall, ...]:
    """Return a call for each letter; those in `failed` fail."""
    return tuple(ToolCall(name=one, ok=one not in failed) for one in names)


def found(tally: Tally, limits: HealthLimits = DEFAULTS) -> Trip | None:
    return trip(a_mission(tally=tally), replace(KIND, health=limits))


def after(names: str, limits: HealthLimits = DEFAULTS, failed: str = "") -> Trip | None:
    return found(counted(Tally(), Evidence(calls=calls(names, failed)), limits), limits)


REPEATS: dict[str, tuple[str, dict[str, Any] | None]] = {
    "four times": ("aaaa", None),
    "five times": ("aaaaa", {"times": 5, "limit": 5}),
    "not in a row": ("aabaabaa", None),
    "in a row before others": ("aaaaaabc", {"times": 6, "limit": 5}),
}


@pytest.mark.parametrize(("names", "facts"), REPEATS.values(), ids=REPEATS)
def test_the_same_call_in_a_row(names: str, facts: dict[str, Any] | None) -> None:
    """Five in a row trip it, wherever they are; others between them make two rows."""
    limits = HealthLimits(cycle_repeats=None)
    expected = None if facts is None else Trip(cause=Cause.REPEATED_CALL, facts=facts)
    assert after(names, limits) == expected


CYCLES: dict[str, tuple[str, tuple[int, int] | None]] = {
    "two, twice": ("abab", None),
    "two, three times": ("ababab", (2, 3)),
    "two, begun in the middle": ("bababax", (2, 3)),
    "six, three times": ("abcdef" * 3, (6, 3)),
    "seven are too long": ("abcdefg" * 3, None),
    "one call is no cycle": ("aaaaaaaaaaaa", None),
    "two equal ones within": ("aabaabaab", (3, 3)),
    "almost": ("ababac", None),
}


@pytest.mark.parametrize(("names", "expected"), CYCLES.values(), ids=CYCLES)
def test_a_cycle_of_calls(names: str, expected: tuple[int, int] | None) -> None:
    """A sequence of 2 to 6 calls three times in a row trips it, with its length and how often."""
    tripped = after(names, HealthLimits(repeated_calls=None))
    if expected is None:
        assert tripped is None
        return
    facts = {"length": expected[0], "times": expected[1], "limit": 3}
    assert tripped == Trip(cause=Cause.CALL_CYCLE, facts=facts)


def test_calls_of_several_invocations_are_one_row() -> None:
    """One call a turn is the usual way to go in a circle."""
    tally = Tally()
    for _ in range(5):
        assert found(tally) is None
        tally = counted(tally, Evidence(calls=calls("a")), DEFAULTS)
    assert found(tally) is not None


def test_the_same_name_with_other_arguments_is_another_call() -> None:
    """Name and arguments count, in whatever order the keys are; what came of it does not."""
    pages = tuple(ToolCall(name="read", arguments={"page": one}) for one in range(9))
    assert found(counted(Tally(), Evidence(calls=pages), DEFAULTS)) is None
    same = tuple(
        ToolCall(name="read", arguments=one, result=number, ok=True)
        for number, one in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}] * 3)
    )
    tripped = found(counted(Tally(), Evidence(calls=same), DEFAULTS))
    assert tripped is not None
    assert tripped.cause is Cause.REPEATED_CALL


EMPTY: dict[str, tuple[list[Evidence], int]] = {
    "nothing at all": ([Evidence()] * 3, 3),
    "not said": ([Evidence(state={"open": 6})] * 5, 0),
    "a conversation": ([Evidence(conversation=(Turn(role="agent", text="On."),))] * 5, 0),
    "nothing": ([Evidence(answer="")] * 2, 2),
    "space": ([Evidence(answer=" \n\t")] * 3, 3),
    "work without a word": ([Evidence(answer="", calls=calls("a"))] * 3, 0),
    "a word between": ([Evidence(answer=""), Evidence(answer="Done."), Evidence(answer="")], 1),
    "unsaid between": ([Evidence(answer=""), Evidence(state=1), Evidence(answer="")], 2),
}


@pytest.mark.parametrize(("turns", "count"), EMPTY.values(), ids=EMPTY)
def test_empty_answers_in_a_row(turns: list[Evidence], count: int) -> None:
    """An answer that says nothing is empty, and so is nothing at all; three in a row trip it."""
    tally = Tally()
    for one in turns:
        tally = counted(tally, one, DEFAULTS)
    assert tally.empty == count
    tripped = found(tally)
    facts = {"times": 3, "limit": 3}
    assert tripped == (Trip(cause=Cause.EMPTY_ANSWERS, facts=facts) if count == 3 else None)


RATES: dict[str, tuple[str, str, int | None]] = {
    "too few to tell": ("abcdefghi", "abcdefghi", None),
    "just under": ("abcdefghij", "abcd", None),
    "half": ("abcdefghij", "abcde", 5),
    "long ago": ("abcdefghijklmno", "abcdefghi", None),
}


@pytest.mark.parametrize(("names", "failed", "count"), RATES.values(), ids=RATES)
def test_the_share_of_calls_that_failed(names: str, failed: str, count: int | None) -> None:
    """Half of the latest ten trip it; what was long ago counts no more."""
    facts = {"failed": count, "calls": 10, "limit": 0.5}
    expected = None if count is None else Trip(cause=Cause.ERROR_RATE, facts=facts)
    assert after(names, failed=failed) == expected


def test_what_was_not_said_to_have_failed_has_not() -> None:
    """A loop that does not say how its calls ended is not stopped for it."""
    silent = tuple(ToolCall(name=one) for one in "abcdefghij")
    assert found(counted(Tally(), Evidence(calls=silent), DEFAULTS)) is None


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
def test_a_share_that_is_met_exactly_trips(share: float) -> None:
    """3 of 10 are .3, whatever .3 * 10 is in binary."""
    tally = Tally(errors=(True,) * round(share * 10) + (False,) * (10 - round(share * 10)))
    assert found(tally, HealthLimits(error_rate=share)) is not None


def test_a_limit_that_is_off_never_trips() -> None:
    """None turns each off."""
    off = HealthLimits(repeated_calls=None, cycle_repeats=None, empty_answers=None, error_rate=None)
    assert after("ab" * 50 + "a" * 50, off, failed="ab") is None
    assert found(Tally(empty=99), off) is None


@pytest.mark.parametrize(
    "limits",
    [HealthLimits(repeated_calls=300), HealthLimits(cycle_repeats=60, repeated_calls=None)],
    ids=["repeated", "cycle"],
)
def test_as_much_is_remembered_as_a_limit_needs(limits: HealthLimits) -> None:
    """A limit that an operator may set can be met; what no limit needs is forgotten."""
    tally, turn = Tally(), Evidence(calls=calls("ab" if limits.repeated_calls is None else "a"))
    for _ in range(299):
        tally = counted(tally, turn, limits)
        if found(tally, limits):
            break
    tally = counted(tally, turn, limits)
    assert found(tally, limits) is not None
    for _ in range(500):
        tally = counted(tally, turn, DEFAULTS)
    assert len(tally.calls) == len(tally.errors) == 200


BUDGETS: dict[str, tuple[Spent, Cause | None, Any]] = {
    "all left": (Spent(tokens=99, cost=0.99, calls=9), None, None),
    "tokens": (Spent(tokens=100), Cause.BUDGET_TOKENS, {"used": 100, "limit": 100}),
    "cost": (Spent(cost=1.25), Cause.BUDGET_COST, {"used": 1.25, "limit": 1.0}),
    "calls": (Spent(calls=11), Cause.BUDGET_CALLS, {"used": 11, "limit": 10}),
    "unknown is not zero, nor too much": (Spent(unknown=50), None, None),
}


@pytest.mark.parametrize(("spent", "cause", "facts"), BUDGETS.values(), ids=BUDGETS)
def test_the_budget(spent: Spent, cause: Cause | None, facts: Any) -> None:
    """What is used up trips, with what was used and what was allowed."""
    mission = a_mission(spent=spent, budget=Budget(tokens=100, cost=1.0, calls=10))
    assert trip(mission, KIND) == (None if cause is None else Trip(cause=cause, facts=facts))
    assert trip(replace(mission, budget=Budget()), KIND) is None


def test_what_was_spent_is_added_and_what_was_not_said_is_counted() -> None:
    """Calls that were left out of the evidence were made all the same."""
    spent = added(Spent(), Evidence(tokens=5, cost=0.5, calls=calls("ab"), cut=Cut(calls=3)))
    spent = added(spent, Evidence(tokens=1))
    spent = added(spent, Evidence())
    assert spent == Spent(tokens=6, cost=0.5, calls=5, unknown=1)
