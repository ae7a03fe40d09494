"""What people and faults do to missions, through the use case and the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.outcome import Action
from sureline.errors import Conflict, ModelFailed, StoreBusy
from sureline.testing import FakeMissionJudge, FixedClock
from tests.missioned import JUDGE, KIND, World, missioned, reply, stands

HOUR = timedelta(hours=1)
SURE, UNSURE = reply(True, 0.95), reply(True, 0.4)
Meanwhile = Callable[[World], Awaitable[Any]]


class Interrupted:
    """A judge that is sure, and while it thinks something happens."""

    def __init__(self, meanwhile: Callable[[], Awaitable[Any]] | None = None) -> None:
        self.meanwhile = meanwhile

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        """Let it happen, once, and say that it is achieved."""
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return Evaluation(source=EvaluationSource.JUDGE, achieved=True, confidence=0.95)


async def labels(world: World, mission_id: str = "m1") -> list[tuple[Action, bool]]:
    """Return the labels of a mission's latest evaluation: action, and whether it is anchored."""
    last = (await world.mission(mission_id)).last
    assert last is not None
    said = await world.gate.services.ledger.outcomes("default", last.decision_id)
    return [(one.action, one.anchored) for one in said]


@pytest.mark.parametrize(
    ("says", "settings", "cause", "answer", "label"),
    [
        pytest.param(UNSURE, {}, "unsure", "complete", Action.APPROVE, id="unsure, complete"),
        pytest.param(UNSURE, {}, "unsure", "resume", Action.REJECT, id="unsure, resume"),
        pytest.param(UNSURE, {}, "unsure", "fail", Action.REJECT, id="unsure, fail"),
        pytest.param(
            SURE, {"auto_complete": False}, "to_confirm", "complete", Action.APPROVE, id="confirm"
        ),
        pytest.param("no verdict", {}, "judge_unavailable", "complete", None, id="no judge"),
        pytest.param("no verdict", {}, "judge_unavailable", "resume", None, id="no judge, resume"),
    ],
)
async def test_an_answer_is_a_label_where_a_verdict_was_asked_about(
    says: str, settings: dict[str, Any], cause: str, answer: str, label: Action | None
) -> None:
    """Completing says that it is achieved, resuming and failing that it is not; of no verdict, no
    label."""
    with missioned(says, **settings) as world:
        await world.create()
        await world.turn()
        assert stands(await world.evaluate()) == ("suspended", cause)
        await getattr(world.missions, answer)("m1", by="kim")
        assert await labels(world) == ([] if label is None else [(label, True)])


@pytest.mark.parametrize("name", ["suspend", "extend", "change"])
async def test_what_answers_no_question_is_no_label(name: str) -> None:
    """Raising a limit, another objective and a suspension by hand say nothing of a verdict."""
    with missioned(UNSURE if name != "suspend" else reply(False, 0.9)) as world:
        await world.create()
        await world.turn()
        last = (await world.evaluate()).last
        assert last is not None
        more: dict[str, Any] = {"extend": {"hours": 1}, "change": {"objective": "More."}}.get(
            name, {}
        )
        await getattr(world.missions, name)("m1", by="kim", **more)
        assert await world.gate.services.ledger.outcomes("default", last.decision_id) == []


async def fail(world: World) -> None:
    await world.missions.fail("m1", by="kim")


async def suspend(world: World) -> None:
    await world.missions.suspend("m1", by="kim")


async def suspend_and_resume(world: World) -> None:
    await world.missions.suspend("m1", by="kim")
    await world.missions.resume("m1", by="kim")


async def erase(world: World) -> None:
    assert await world.missions.erase("m1", by="kim", reason="asked to")


@pytest.mark.parametrize(
    ("meanwhile", "after", "rows"),
    [
        pytest.param(fail, ("failed", "person"), 0, id="failed by a person"),
        pytest.param(suspend, ("suspended", "person"), 0, id="suspended"),
        pytest.param(suspend_and_resume, ("active", "started"), 0, id="suspended and resumed"),
        pytest.param(erase, ("failed", "person"), 0, id="erased"),
    ],
)
async def test_a_person_who_spoke_first_is_not_overruled(
    meanwhile: Meanwhile, after: tuple[str, str], rows: int
) -> None:
    """A verdict that ends later changes nothing, is no decision, and brings no words back."""
    judge = Interrupted()
    with missioned(plugins={"mission_judge": judge}) as world:
        await world.create()
        await world.turn()
        judge.meanwhile = lambda: meanwhile(world)
        found = await world.evaluate()
        assert stands(found) == after
        assert found.evaluating is None
        counted = await world.gate.services.ledger.route_counts("default")
        assert sum(counted.get(f"mission.{KIND}", {}).values()) == rows
        assert found.erased == (meanwhile is erase)
        assert not (found.erased and found.objective)


async def test_an_erased_mission_is_not_reopened() -> None:
    """Where the words are gone, nobody could go on, whatever limit is raised."""
    clock = FixedClock()
    with missioned(clock=clock, timeout_hours=1) as world:
        await world.create()
        clock.advance(HOUR)
        assert await world.missions.tick() == 1
        await world.missions.erase("m1", by="kim", reason="asked to")
        with pytest.raises(Conflict, match="erased"):
            await world.missions.extend("m1", by="kim", hours=1)


async def test_a_failed_try_that_comes_too_late_is_no_decision() -> None:
    """Of two that looked at one invocation, the verdict counts and the failure is only noted."""
    judge = Interrupted()

    async def other_worker() -> None:
        clock.advance(timedelta(hours=1))  # the first is no longer believed to be at it
        runs = replace(world.missions.runs, turns=type(world.missions.runs.turns)())
        await runs.run("m1", owner="w2", check=None)
        raise ModelFailed("unreachable")

    clock = FixedClock()
    with missioned(clock=clock, plugins={"mission_judge": judge}) as world:
        await world.create()
        await world.turn()
        judge.meanwhile = other_worker
        assert stands(await world.evaluate()) == ("completed", "achieved")
        rows = await world.gate.services.ledger.route_counts("default")
        assert rows["mission.books"] == {"auto_approve": 1}


async def test_a_store_that_fails_while_it_is_concluded_leaves_it_owed() -> None:
    """What went wrong is told, and the next who asks evaluates; nothing went on."""
    judge = FakeMissionJudge.saying(True, 0.95)
    with missioned(plugins={"mission_judge": judge}) as world:
        await world.create()
        await world.turn()
        real = world.missions.runs
        calls = iter(range(9))

        class Failing:
            """A store that is busy from the second change on."""

            async def mission(self, workspace: str, mission_id: str) -> Mission | None:
                found: Mission | None = await real.store.mission(workspace, mission_id)
                return found

            async def change(self, workspace: str, mission_id: str, make: Any) -> Any:
                if next(calls):
                    raise StoreBusy("held")
                return await real.store.change(workspace, mission_id, make)

        with pytest.raises(StoreBusy):
            await replace(real, store=Failing()).run("m1", owner="w1", check=None)
        left = await world.mission()
        assert (left.state, left.evaluated) == ("active", 0)
        assert left.evaluating is not None
        world.clock.advance(HOUR)  # type: ignore[attr-defined]
        assert stands(await world.evaluate()) == ("completed", "achieved")


async def test_a_cancellation_is_not_hidden_by_a_store_that_fails() -> None:
    """Whoever gives up is let go, also where the lease cannot be given back."""
    asked = asyncio.Event()

    async def forever() -> None:
        asked.set()
        await asyncio.Event().wait()

    with missioned(plugins={"mission_judge": Interrupted(forever)}) as world:
        await world.create()
        await world.turn()
        work = asyncio.create_task(world.evaluate())
        await asked.wait()
        await asyncio.to_thread(world.gate.services.store.close)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


async def trip_and_resume(world: World) -> None:
    """Repeat a call until the mission is suspended for it, and let it go on."""
    call = {"name": "look", "arguments": {"at": 1}, "result": "open", "ok": True}
    assert await world.turn(calls=[call] * 30)
    assert stands(await world.mission()) == ("suspended", "repeated_call")
    await world.missions.resume("m1", by="kim")


async def run_out_and_extend(world: World) -> None:
    """Let the time run out while nothing is heard of the judge, and give it more."""
    assert isinstance(world.clock, FixedClock)
    world.clock.advance(2 * HOUR)
    assert await world.missions.tick() == 1
    await world.missions.extend("m1", by="kim", hours=1)


@pytest.mark.parametrize("meanwhile", [trip_and_resume, run_out_and_extend])
async def test_a_verdict_from_before_a_stop_counts_no_more(meanwhile: Meanwhile) -> None:
    """Whatever stopped the mission: who let it go on is not overruled by what was asked before."""
    judge = Interrupted()
    with missioned(plugins={"mission_judge": judge}, evaluate_every=5, timeout_hours=1) as world:
        await world.create()
        await world.turn()
        judge.meanwhile = lambda: meanwhile(world)
        found = await world.evaluate()
        assert (stands(found), found.evaluated) == (("active", "started"), 0)
        assert found.evaluating is None


async def test_after_a_change_the_first_wait_is_the_first_one_again() -> None:
    """A try that failed on the old words is none of the new ones'."""
    judge = Interrupted()
    paused: list[float] = []

    async def pause(seconds: float) -> None:
        paused.append(seconds)

    async def change() -> None:
        await world.missions.change("m1", by="kim", objective="Open them.")
        raise ModelFailed("unreachable")

    three = {"model": JUDGE, "tries": 3}
    with missioned(plugins={"mission_judge": judge}, judge=three) as world:
        runs = replace(world.missions.runs, pause=pause)
        missions = replace(world.missions, runs=runs)
        await world.create()
        await world.turn()
        judge.meanwhile = change
        await missions.evaluate("m1", owner="w1")
    assert paused == [2.0]


async def test_what_is_owed_past_the_deadline_is_asked_once() -> None:
    """Work that is done is completed late; work that is not fails then, and nobody asks again."""
    clock = FixedClock()
    with missioned(reply(False, 0.95), clock=clock, evaluate_every=1, timeout_hours=1) as world:
        await world.create()
        await world.turn()
        clock.advance(2 * HOUR)
        for _ in range(3):
            found = await world.evaluate()
        assert stands(found) == ("failed", "deadline")
        assert len(world.provider.asked) == 1
