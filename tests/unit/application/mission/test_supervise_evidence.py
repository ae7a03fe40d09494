"""What a supervised command leaves behind, as evidence and as what health is told by."""

from __future__ import annotations

import pytest

from sureline.application.mission.supervised_evidence import Invoked, evidence_of
from sureline.application.ports.processes import NotStarted, Ran
from sureline.core.mission.health import counted
from sureline.core.values.mission import Tally
from sureline.core.values.mission_kind import HealthLimits
from sureline.errors import InvalidInput


def invoked(number: int = 1, exit_code: int = 0, stdout: str = "", **more: str) -> Invoked:
    """Return an invocation that is over."""
    outcome = Ran(exit_code=exit_code, stdout=stdout, stderr="")
    return Invoked(number=number, trigger="t", command=("c",), outcome=outcome, **more)


def test_silence_is_no_empty_answer_and_the_same_command_no_repeated_call() -> None:
    """A command that does its work without a word, over and over, is well."""
    tally = Tally()
    for number in range(1, 9):
        tally = counted(tally, evidence_of(invoked(number), None), HealthLimits())
    assert (tally.empty, len(set(tally.calls)), any(tally.errors)) == (0, 8, False)


def test_what_cannot_be_started_is_a_failed_call() -> None:
    """It is an error with its reason, whatever bytes are in the command's name."""
    gone = NotStarted(why="gone \udcff")
    failed = Invoked(number=1, trigger="t", command=("c\udcff",), outcome=gone)
    evidence = evidence_of(failed, None)
    (call,) = evidence.calls
    assert (call.ok, call.arguments["command"], evidence.answer) == (False, ["c?"], None)
    assert "gone ?" in call.result["not_started"]
    assert counted(Tally(), evidence, HealthLimits()).errors == (True,)


@pytest.mark.parametrize(
    "written", [b"{", b"[]", b'{"tokens": -1}', b'{"achieved": true}', b'{"cost": NaN}', b"\xff"]
)
def test_evidence_that_is_none_is_refused(written: bytes) -> None:
    """What is not described is not taken in, a claim to be finished among it."""
    with pytest.raises(InvalidInput):
        evidence_of(invoked(), written)


def test_how_it_ended_stands_beside_its_own_evidence_where_it_was_not_well() -> None:
    """An agent cannot leave its exit code out, and where all was well its calls are its own."""
    own = b'{"answer": "done"}'
    assert evidence_of(invoked(), own).calls == ()
    (call,) = evidence_of(invoked(exit_code=3), own).calls
    assert (call.ok, call.result["exit_code"]) == (False, 3)
    (late,) = evidence_of(invoked(ended_for="timeout"), own).calls
    assert (late.ok, late.result["ended_for"]) == (False, "timeout")
