"""An evaluation is made by one at a time, whatever those who ask for it call themselves."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sureline.application.mission.evaluation_run import Turns
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind
from tests.missioned import missioned


class Held:
    """A judge that answers once it is let."""

    def __init__(self) -> None:
        self.asked, self.began, self.let = 0, asyncio.Event(), asyncio.Event()

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        """Say that it is not achieved, after a while."""
        self.asked += 1
        self.began.set()
        await self.let.wait()
        return Evaluation(source=EvaluationSource.JUDGE, achieved=False, confidence=0.9)


async def test_two_processes_of_one_owner_ask_the_judge_once() -> None:
    """A second process under the same name waits for no verdict, asks for none, frees nothing."""
    judge = Held()
    with missioned(plugins={"mission_judge": judge}) as world:
        await world.create()
        await world.turn()
        first = asyncio.create_task(world.evaluate())
        await judge.began.wait()
        runs = replace(world.missions.runs, turns=Turns())  # as another process has its own
        other = asyncio.create_task(runs.run("m1", owner="w1", check=None))
        done, _ = await asyncio.wait({other}, timeout=1)
        asked, judged = judge.asked, (await world.mission()).evaluating
        judge.let.set()
        after = await first
        await other
        assert done == {other}
        assert asked == 1
        assert judged is not None
        assert (after.evaluated, after.evaluating) == (1, None)
