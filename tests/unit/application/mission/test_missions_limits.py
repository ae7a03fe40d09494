"""What time, limits, switches and a policy that changed do to missions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sureline.core.values.switch import Switch
from sureline.errors import Conflict, MissionRefused
from sureline.testing import FixedClock
from tests.missioned import missioned, reply, stands

HOUR = timedelta(hours=1)
WITHOUT = "version: 1\nmissions: {other: {judge: {model: 'two:x'}}}"
"""A policy that has another kind of mission."""
SURE, UNSURE = reply(True, 0.95), reply(True, 0.4)


async def test_missions_that_cannot_move_hide_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three overdue ones are being evaluated and two may look at a time: the fourth fails."""
    monkeypatch.setattr("sureline.application.mission.each_due.MOST_DUE", 2)
    clock = FixedClock()
    with missioned(clock=clock, timeout_hours=1) as world:
        for number in range(4):
            await world.create(f"m{number}")
            await world.turn(f"m{number}")
            clock.advance(timedelta(seconds=1))
        clock.advance(HOUR - timedelta(seconds=10))
        runs = world.missions.runs
        for number in range(3):
            await runs._claimed(f"m{number}", "w1")
        clock.advance(timedelta(seconds=20))
        assert await world.missions.tick() == 1
        assert stands(await world.mission("m3")) == ("failed", "deadline")
        assert stands(await world.mission("m0")) == ("active", "started")
        assert await world.missions.tick() == 0


async def test_a_kind_that_left_the_policy_lets_nothing_go_on() -> None:
    """Nothing begins, a person is called once, nothing is judged; its deadline holds."""
    clock = FixedClock()
    with missioned(clock=clock, timeout_hours=1) as world:
        await world.create()
        await world.turn()
        policies = world.gate.services.policies
        found = await policies.propose(WITHOUT, by="kim")
        await policies.activate(found.policy.hash, by="kim")
        with pytest.raises(MissionRefused, match="no kind of mission 'books' any more") as refused:
            await world.missions.begin("m1", owner="w1")
        assert refused.value.code == "unknown_kind"
        assert not await world.turn()
        before = await world.mission()
        assert stands(before) == ("suspended", "unknown_kind")
        assert world.told() == ["mission.suspended"]
        assert await world.evaluate() == before
        with pytest.raises(Conflict, match="put the kind back"):
            await world.missions.resume("m1", by="kim")
        assert world.provider.asked == []
        clock.advance(HOUR)
        assert await world.missions.tick() == 1
        assert stands(await world.mission()) == ("failed", "deadline")


async def test_a_kind_that_is_back_lets_its_missions_go_on() -> None:
    """A person resumes what was suspended meanwhile."""
    with missioned() as world:
        await world.create()
        policies = world.gate.services.policies
        with_it = await policies.active_hash()
        assert with_it is not None
        without = await policies.propose(WITHOUT, by="kim")
        await policies.activate(without.policy.hash, by="kim")
        assert not await world.turn()
        await policies.activate(with_it, by="kim")
        assert stands(await world.missions.resume("m1", by="kim")) == ("active", "started")
        assert await world.turn()


async def test_a_clock_set_back_an_hour_reminds_and_fails_once() -> None:
    """An escalation is one, its reminder is one, and the mission fails after its hours."""
    clock = FixedClock()
    with missioned(UNSURE, clock=clock, timeout_hours=3) as world:
        await world.create()
        await world.turn()
        await world.evaluate()
        clock.advance(timedelta(minutes=-60))
        assert await world.missions.tick() == 0
        assert world.told() == ["mission.suspended"]
        clock.advance(4 * HOUR)
        assert await world.missions.tick() == 1
        assert await world.missions.tick() == 0
        assert world.told().count("mission.suspended") == 1
        assert stands(await world.mission()) == ("failed", "deadline")


@pytest.mark.parametrize(
    ("cause", "raised"),
    [
        pytest.param("deadline", {"hours": 1}, id="time"),
        pytest.param("ceiling", {"invocations": 1}, id="invocations"),
    ],
)
async def test_only_the_limit_that_was_met_reopens_a_mission(
    cause: str, raised: dict[str, Any]
) -> None:
    """A failed mission is extended by what it lacked; another limit is refused."""
    clock = FixedClock()
    with missioned(clock=clock, timeout_hours=1, max_invocations=1) as world:
        await world.create()
        if cause == "ceiling":
            await world.turn()
            await world.evaluate()
        else:
            clock.advance(HOUR)
            await world.missions.tick()
        assert stands(await world.mission()) == ("failed", cause)
        other = {"hours": 1} if "invocations" in raised else {"invocations": 1}
        with pytest.raises(Conflict):
            await world.missions.extend("m1", by="kim", **other)
        assert stands(await world.missions.extend("m1", by="kim", **raised))[0] == "active"
        assert await world.turn()


async def test_a_mission_over_its_budget_is_not_just_resumed() -> None:
    """The limit that is met must be raised first; then it goes on."""
    with missioned(budget={"tokens": 10}) as world:
        await world.create()
        await world.turn(answer="done", tokens=11)
        assert stands(await world.evaluate()) == ("suspended", "budget_tokens")
        with pytest.raises(Conflict, match="extend it by tokens"):
            await world.missions.resume("m1", by="kim")
        await world.missions.extend("m1", by="kim", tokens=10)
        assert stands(await world.missions.resume("m1", by="kim")) == ("active", "started")
        assert await world.turn()


async def test_work_that_is_done_completes_with_the_last_of_its_budget() -> None:
    """The evaluation that is owed comes before the budget: nobody is called for finished work."""
    with missioned(SURE, budget={"tokens": 10}) as world:
        await world.create()
        await world.turn(answer="done", tokens=11)
        assert stands(await world.mission()) == ("active", "started")
        assert stands(await world.evaluate()) == ("completed", "achieved")


@pytest.mark.parametrize(
    ("scope", "begins", "after"),
    [
        pytest.param("global", False, ("suspended", "switch"), id="global"),
        pytest.param("slice:mission.books", True, ("suspended", "switch"), id="its slice"),
        pytest.param("slice:mission.other", True, ("completed", "achieved"), id="another slice"),
    ],
)
async def test_a_switch_stops_all_or_keeps_a_kind_from_completing(
    scope: str, begins: bool, after: tuple[str, str]
) -> None:
    """Under a global switch nothing begins; under a slice's a person confirms what is achieved."""
    with missioned(SURE) as world:
        await world.create()
        await world.turn()
        now = world.clock.now()
        switch = Switch(
            workspace="default", scope=scope, on=True, reason="r", by="kim", changed_at=now
        )
        await world.gate.services.ledger.set_switch(switch)
        await world.create("m2")
        assert await world.turn("m2") == begins
        assert stands(await world.evaluate()) == after


async def test_who_may_have_only_what_is_owed_redraws_no_judge() -> None:
    """Two of three turns are done, and nobody is asked until the third."""
    with missioned(evaluate_every=3) as world:
        await world.create()
        await world.turn()
        await world.turn()
        before = await world.mission()
        assert await world.evaluate(only_owed=True) == before
        assert world.provider.asked == []
        await world.turn()
        assert (await world.evaluate(only_owed=True)).evaluated == 3
