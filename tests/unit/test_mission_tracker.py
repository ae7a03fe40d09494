"""What an agent's loop may do with a mission, and what it is kept from."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline import Conflict, Gate, InvalidInput, MissionRefused, MissionState
from sureline.application.mission.new_mission import new_mission
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import EventKind, Mission, MissionEvent
from sureline.errors import ModelFailed, StoreBusy
from sureline.mission_tracker import MissionTracker
from sureline.testing import FakeMissionJudge, FixedClock, temporary_gate

ROOT = Path(__file__).parents[2]
POLICY = """
version: 1
missions:
  books:
    judge: {model: "two:sceptic-1"}
    evaluate_every: 2
    max_invocations: 6
"""
GOES_ON = FakeMissionJudge.saying(False, 0.9)
OBJECTIVE = "Close the disputes."


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Yield a gate whose judge is sure that nothing is achieved yet."""
    with temporary_gate(POLICY, mission_judge=FakeMissionJudge.saying(False, 0.9)) as opened:
        yield opened


def kinds(gate: Gate, mission_id: str) -> list[EventKind]:
    """Return what happened to a mission, in its order."""
    return [one.kind for one in gate.run(gate.services.missions.events(mission_id))]


async def test_it_evaluates_where_one_is_owed_and_goes_on(gate: Gate) -> None:
    """Every second invocation is followed by an evaluation, without being asked for."""
    async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
        for _ in range(4):
            await mission.before_invocation()
            await mission.after_invocation(answer="one more")
        assert mission.mission.evaluated == 4
        assert mission.goes_on
        assert "after invocation 4" in await mission.summary()


async def test_the_last_invocation_is_judged_before_the_mission_fails(gate: Gate) -> None:
    """At the ceiling there is a last evaluation, and then nothing runs."""
    async with gate.mission("books", objective=OBJECTIVE, max_invocations=3) as mission:
        for _ in range(3):
            await mission.before_invocation()
            await mission.after_invocation(answer="one more")
        assert mission.state is MissionState.FAILED
        with pytest.raises(MissionRefused) as refused:
            await mission.before_invocation()
        assert refused.value.code == "failed"


def test_it_works_without_an_event_loop_and_inside_one(gate: Gate) -> None:
    """The forms for code without a loop do the same, also where somebody else's loop runs."""

    def turn() -> int:
        with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
            number = mission.before_invocation_sync().number
            mission.after_invocation_sync({"answer": "one more"})
            return number

    async def inside() -> int:
        return turn()

    assert turn() == 1
    assert asyncio.run(inside()) == 2
    assert gate.run(gate.services.missions.mission("m1")).evaluated == 2


async def test_what_an_agent_raises_ends_its_invocation_and_goes_on(gate: Gate) -> None:
    """Nobody waits for an invocation that ended with an error, and the error is not swallowed."""
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the context is what is tried
        async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
            await mission.before_invocation()
            raise ZeroDivisionError
    stands = await gate.services.missions.mission("m1")
    assert stands.running is None
    assert stands.tally.errors == (True,)
    async with gate.mission("books", objective=OBJECTIVE, id="m1") as again:
        assert (await again.before_invocation()).number == 2
        await again.after_invocation(answer="better")


async def test_evidence_is_handed_in_again_after_a_fault_of_the_store(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that was away for a moment loses no evidence, and hides no error of the agent's."""
    missions, faults = gate.services.missions, [StoreBusy("held"), StoreBusy("held")]
    change = type(missions.store).change

    async def busy(*given: Any) -> Any:
        if faults:
            raise faults.pop()
        return await change(*given)

    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the context is what is tried
        async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
            await mission.before_invocation()
            monkeypatch.setattr(type(missions.store), "change", busy)
            faults.pop()
            with pytest.raises(StoreBusy):
                await mission.after_invocation(answer="one more")
            assert (await mission.after_invocation(answer="one more")).running is None
            await mission.before_invocation()
            faults.append(StoreBusy("held"))
            raise ZeroDivisionError
    assert (await missions.mission("m1")).running is not None  # until its lease is over


async def test_a_second_loop_is_refused_while_the_first_is_at_work(gate: Gate) -> None:
    """Two trackers of one mission do not run at the same time (M25)."""
    async with (
        gate.mission("books", objective=OBJECTIVE, id="m1") as one,
        gate.mission("books", objective=OBJECTIVE, id="m1") as other,
    ):
        await one.before_invocation()
        with pytest.raises(MissionRefused) as refused:
            await other.before_invocation()
        assert refused.value.code == "busy"
        with pytest.raises(Conflict):
            await other.after_invocation(answer="mine")
        await one.after_invocation(answer="done")
        assert (await other.before_invocation()).number == 2
        await other.after_invocation(answer="done")


async def test_an_id_belongs_to_one_mission(gate: Gate) -> None:
    """The same id finds the mission again; with another objective it is refused."""
    async with gate.mission("books", objective=OBJECTIVE, id="m1"):
        pass
    with pytest.raises(Conflict):
        async with gate.mission("books", objective="Open some.", id="m1"):
            pass


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        pytest.param({"objective": " "}, "objective", id="no objective"),
        pytest.param({"objective": "x", "id": "a/b"}, "id", id="an id that is no name"),
        pytest.param({"objective": "x", "hours": 1e9}, "hours", id="longer than the kind's"),
        pytest.param({"objective": "x", "hours": float("nan")}, "hours", id="NaN hours"),
        pytest.param({"objective": "x", "max_invocations": 7}, "max_invocations", id="more turns"),
        pytest.param({"objective": "x", "max_invocations": True}, "max_invocations", id="a truth"),
        pytest.param({"objective": "x", "criteria": "all"}, "criteria", id="a text for a list"),
    ],
)
async def test_a_mission_can_only_be_tighter_than_its_kind(
    gate: Gate, asked: dict[str, object], field: str
) -> None:
    """What is asked for is checked field by field; no agent raises a limit of the policy."""
    with pytest.raises(InvalidInput) as refused:
        async with gate.mission("books", **asked):  # type: ignore[arg-type]
            pass
    assert refused.value.field == field


async def test_a_kind_that_the_policy_does_not_have_is_named(gate: Gate) -> None:
    """Whoever mistypes a kind is told which there are."""
    with pytest.raises(InvalidInput, match="it has: books"):
        async with gate.mission("boks", objective=OBJECTIVE):
            pass


async def test_a_listener_hears_all_and_stops_nothing(gate: Gate) -> None:
    """A listener that raises is warned of once, and the others hear the rest."""
    heard: list[MissionEvent] = []

    def broken(event: MissionEvent) -> None:
        raise RuntimeError(event.kind)

    gate.services.missions.bus.subscribe(broken)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        async with gate.mission("books", objective=OBJECTIVE, listener=heard.append) as mission:
            await mission.before_invocation()
            await mission.after_invocation(answer="done")
    assert [one.kind for one in heard] == [
        EventKind.CREATED,
        EventKind.STARTED,
        EventKind.INVOCATION_BEGUN,
        EventKind.INVOCATION_ENDED,
    ]
    assert len(warned) == 1


async def test_a_judge_that_is_away_calls_a_person_after_three_tries() -> None:
    """Between tries there is a pause; nothing goes on unjudged, and nothing is made up (M6)."""
    judge = FakeMissionJudge(ModelFailed("unreachable"))
    with temporary_gate(POLICY, mission_judge=judge) as gate:
        paused = pauses(gate)
        async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
            for _ in range(2):
                await mission.before_invocation()
                await mission.after_invocation(answer="one more")
            assert (mission.state, mission.mission.cause) == ("suspended", "judge_unavailable")
            assert paused == [2.0, 8.0]
            assert len(judge.asked) == 3
            assert mission.mission.last is not None
            assert mission.mission.last.confidence is None
            resumed = await gate.services.missions.resume("m1", by="kim")
            assert resumed.owed


async def test_an_evaluation_that_is_cancelled_stays_owed() -> None:
    """Whoever gives up while the judge thinks leaves the evaluation to the next who asks (M11)."""
    asked = asyncio.Event()

    class Slow:
        """A judge that does not answer."""

        async def judge(self, mission: Mission, kind: object) -> Evaluation:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    with temporary_gate(POLICY, mission_judge=Slow()) as gate:
        async with gate.mission("books", objective=OBJECTIVE, max_invocations=1) as mission:
            await mission.before_invocation()
            work = asyncio.ensure_future(mission.after_invocation(answer="done"))
            await asked.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            stands = await gate.services.missions.mission(mission.id)
            assert stands.owed
            assert stands.evaluating is None


async def test_a_verdict_on_an_objective_of_before_counts_no_more() -> None:
    """Changed while the judge was at it, the mission is not completed by what it said (M11)."""
    gates: list[Gate] = []

    class Changing:
        """A judge during whose thinking a person changes the objective."""

        async def judge(self, mission: Mission, kind: object) -> Evaluation:
            if mission.revision == 1:
                await gates[0].services.missions.change(mission.id, by="kim", objective="More.")
            return Evaluation(source=EvaluationSource.JUDGE, achieved=True, confidence=0.99)

    with temporary_gate(POLICY, mission_judge=Changing()) as gate:
        gates.append(gate)
        async with gate.mission("books", objective=OBJECTIVE, max_invocations=1) as mission:
            await mission.before_invocation()
            after = await mission.after_invocation(answer="done")
            assert (after.state, after.revision, after.last) == ("active", 2, None)
            assert after.owed


async def test_who_waits_begins_once_the_other_has_ended(gate: Gate) -> None:
    """A loop beside another waits its turn, looking once a second, and no longer than told."""
    clock = FixedClock()
    missions = replace(gate.services.missions, clock=clock)
    looked: list[float] = []
    new = new_mission("books", {"objective": OBJECTIVE, "id": "m1"}, has_check=False)
    first = MissionTracker(missions, new, loop=gate)

    async def pause(seconds: float) -> None:
        looked.append(seconds)
        clock.advance(timedelta(seconds=seconds))
        if len(looked) == 5:
            await first.after_invocation(answer="done")

    second = MissionTracker(missions, new, loop=gate, pause=pause)
    async with first, second:
        await first.before_invocation()
        with pytest.raises(MissionRefused) as refused:
            await second.before_invocation(wait=2.5)
        assert (refused.value.code, looked) == ("busy", [1.0, 1.0, 0.5])
        assert (await second.before_invocation(wait=60)).number == 2
        assert len(looked) == 5
        await second.after_invocation(answer="done")


async def test_nobody_waits_for_what_only_a_person_ends(gate: Gate) -> None:
    """A suspended mission is refused at once, however long one would wait."""
    async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
        await gate.services.missions.suspend("m1", by="kim")
        with pytest.raises(MissionRefused) as refused:
            await mission.before_invocation(wait=1e6)
        assert refused.value.code == "suspended"


@pytest.mark.parametrize("wait", [-1, float("nan"), float("inf"), "1", True, None])
async def test_a_wait_is_a_number_of_seconds(gate: Gate, wait: Any) -> None:
    """Anything else is refused, and nothing begins."""
    async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
        with pytest.raises(InvalidInput, match="wait: "):
            await mission.before_invocation(wait)
        assert mission.mission.invocations == 0


async def test_who_awaits_goes_on_awaiting(gate: Gate) -> None:
    """A `_sync` method of a mission entered with `async with` is refused; nothing is lost."""
    async with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
        for wrong in (mission.before_invocation_sync, mission.summary_sync, mission.evaluate_sync):
            with pytest.raises(Conflict, match="use await"):
                wrong()
        await mission.before_invocation()
        with pytest.raises(Conflict, match="use await"):
            mission.after_invocation_sync(answer="done")
        assert (await mission.after_invocation(answer="done")).invocations == 1


async def test_who_does_not_await_goes_on_without(gate: Gate) -> None:
    """Awaiting on a mission entered with `with` is refused; nothing is lost."""
    with gate.mission("books", objective=OBJECTIVE, id="m1") as mission:
        for wrong in (mission.before_invocation, mission.summary, mission.evaluate):
            with pytest.raises(Conflict, match="`_sync` methods"):
                await wrong()
        mission.before_invocation_sync()
        with pytest.raises(Conflict, match="`_sync` methods"):
            await mission.after_invocation(answer="done")
        assert mission.after_invocation_sync(answer="done").invocations == 1


@pytest.mark.parametrize(
    ("asked", "field", "said"),
    [
        ({"objective": "x", "objectives": "x"}, "objectives", "criteria, hours, id"),
        ({"objective": "x", "submitted_by": "x"}, "submitted_by", "there is no such field"),
        ({}, "objective", "expected what is to be achieved"),
        ({"objective": "x", "criteria": None}, "criteria", "expected a list"),
        ({"objective": "x", "success_check": lambda: True}, "success_check", "one argument"),
    ],
)
async def test_what_cannot_be_asked_for_is_named(
    gate: Gate, asked: dict[str, Any], field: str, said: str
) -> None:
    """A slip is told by its name, with what there is."""
    with pytest.raises(InvalidInput, match=said) as refused:
        async with gate.mission("books", **asked):
            pass
    assert refused.value.field == field


UNJUDGED = "version: 1\nmissions: {books: {evaluate_every: 1}}\n"


async def test_a_mission_that_nobody_could_judge_is_not_made() -> None:
    """Where the kind has no judge there is a success check, or a program's own judge."""
    with temporary_gate(UNJUDGED) as gate:
        with pytest.raises(InvalidInput, match="add a judge to the kind in the policy, or give"):
            async with gate.mission("books", objective=OBJECTIVE):
                pass
        async with gate.mission("books", objective=OBJECTIVE, success_check=bool) as mission:
            assert mission.goes_on
    with temporary_gate(UNJUDGED, mission_judge=GOES_ON) as gate:
        async with gate.mission("books", objective=OBJECTIVE) as mission:
            assert mission.goes_on


async def test_a_check_that_leaves_it_to_nobody_calls_a_person_at_once() -> None:
    """None from a check where the kind has no judge is the check's failure, tried once."""
    with temporary_gate(UNJUDGED) as gate:
        paused = pauses(gate)
        async with gate.mission(
            "books", objective=OBJECTIVE, success_check=lambda _mission: None
        ) as mission:
            await mission.before_invocation()
            after = await mission.after_invocation(answer="done")
        assert (after.state, after.cause, paused) == ("suspended", "check_failed", [])
        assert after.last is not None
        assert after.last.fault == "check_undecided"


def test_the_example_tells_the_story() -> None:
    """Three disputes are open at turn 3 and the mission goes on; at turn 6 it is complete."""
    run = subprocess.run(
        [sys.executable, "examples/reconciliation.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = run.stdout.splitlines()
    assert lines[2] == "turn 3: 3 open, mission active"
    assert lines[-1] == "turn 6: 0 open, mission completed"


def pauses(gate: Gate) -> list[float]:
    """Return the list of the pauses that are asked for instead of made."""
    asked: list[float] = []

    async def pause(seconds: float) -> None:
        asked.append(seconds)

    missions = gate.services.missions
    paused = replace(missions, runs=replace(missions.runs, pause=pause))
    gate.services = replace(gate.services, missions=paused)
    return asked
