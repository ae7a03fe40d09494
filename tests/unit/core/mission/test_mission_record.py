"""A mission's record is read exactly as it was written, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.mission.erasing import forgotten, without_words
from sureline.core.mission.record import mission_from_record, mission_record, standing
from sureline.core.values.mission import Cause, LastEvaluation, Mission, MissionState
from sureline.core.values.mission_evidence import Evidence, ToolCall, Turn
from sureline.core.values.notification import NoticeKind
from sureline.errors import InvalidInput
from tests.adapters.storage.mission_samples import full_mission, mission
from tests.adapters.storage.samples import NOON

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
evidence = st.builds(
    Evidence,
    conversation=st.lists(st.builds(Turn, role=words, text=words), max_size=2).map(tuple),
    calls=st.lists(
        st.builds(
            ToolCall,
            name=words,
            arguments=json_values,
            result=json_values,
            ok=st.none() | st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    state=json_values,
    answer=st.none() | words,
    cost=st.none() | st.floats(min_value=0, max_value=1e9),
)


@given(
    objective=words,
    criteria=st.lists(words, max_size=3).map(tuple),
    evidence=evidence,
    state=st.sampled_from(MissionState),
    cause=st.sampled_from(Cause),
    minutes=st.integers(0, 10**7),
)
def test_whatever_a_mission_holds_comes_back(minutes: int, **changes: Any) -> None:
    """No text, number or moment is changed on the way."""
    written = full_mission(**changes, updated_at=NOON + timedelta(minutes=minutes))
    assert mission_from_record(*mission_record(written)) == written


def test_words_lie_apart() -> None:
    """What stays holds none of them, and says where the mission stands."""
    stays, said = mission_record(full_mission())
    assert b"Acme" not in stays
    assert b"customer 17" not in stays
    assert said is not None
    assert b"Acme" in said
    assert standing(stays) == ("suspended", "unsure")
    assert mission_record(without_words(full_mission()))[1] is None


def _without(name: str) -> Any:
    return lambda data: data.pop(name)


def _with(**changes: Any) -> Any:
    return lambda data: data.update(changes)


@pytest.mark.parametrize(
    ("of_words", "damage"),
    [
        (False, _without("owed")),
        (False, _with(more=1)),
        (False, _with(owed=1)),
        (False, _with(version="1")),
        (False, _with(invocations=True)),
        (False, _with(state="lost")),
        (False, _with(spent=None)),
        (False, _with(running=[])),
        (False, _with(created_at=1.5)),
        (False, _with(v=2)),
        (False, _with(erased=True)),
        (False, _with(last=7)),
        (True, _without("objective")),
        (True, _with(criteria="one")),
        (True, _with(criteria=[1])),
        (True, _with(v=None)),
        (True, _with(state="completed", more={})),
        (True, _with(evidence={})),
    ],
)
def test_what_is_damaged_is_no_mission(of_words: bool, damage: Any) -> None:
    """A field that is missing, too many or of another type is never guessed."""
    stays, said = mission_record(full_mission())
    assert said is not None
    data = json.loads(said if of_words else stays)
    damage(data)
    changed = json.dumps(data).encode()
    with pytest.raises((ValueError, TypeError)):
        mission_from_record(*((stays, changed) if of_words else (changed, said)))


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b'{"v":1,"v":1}', b"null", b"\xff"])
def test_what_is_no_record_says_nothing(broken: bytes) -> None:
    """It has no state, and is no mission."""
    assert standing(broken) is None
    with pytest.raises((ValueError, TypeError)):
        mission_from_record(broken, None)


@pytest.mark.parametrize("state", [float("nan"), object(), "\ud800"])
def test_what_json_cannot_say_is_refused(state: Any) -> None:
    """It is said when it is written, not found when it is read."""
    with pytest.raises(InvalidInput):
        mission_record(mission(evidence=Evidence(state=state)))


def test_a_mission_that_is_forgotten_fails_unless_it_is_over() -> None:
    """Figures stay; nothing is left to run, to be judged or to be reminded of."""
    step = forgotten(full_mission(), at=NOON, by="kim", facts={"note": "asked"})
    left = step.mission
    assert [one.kind for one in step.notices] == [NoticeKind.MISSION_RECOVERED]
    assert (step.events[0].state, step.events[0].by) == (MissionState.FAILED, "kim")
    assert (left.state, left.cause, left.ended_at) == (MissionState.FAILED, Cause.PERSON, NOON)
    assert (left.running, left.evaluating, left.escalation, left.owed) == (None, None, None, False)
    assert (left.invocations, left.spent) == (7, full_mission().spent)
    done: Mission = full_mission(state=MissionState.COMPLETED, cause=Cause.ACHIEVED, ended_at=NOON)
    step = forgotten(done, at=NOON + timedelta(hours=1), by=None, facts={})
    kept = step.mission
    assert step.notices == ()
    assert (kept.state, kept.cause, kept.ended_at) == (done.state, done.cause, NOON)
    assert kept.last == replace(_last(done), reasoning=None, progress=None)


def _last(of: Mission) -> LastEvaluation:
    assert of.last is not None
    return of.last
