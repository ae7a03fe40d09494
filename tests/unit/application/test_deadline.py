"""A deadline bounds the whole decision, and a decision that is given up leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.bootstrap import Plugins, open_services
from sureline.core.values.decision import Decision
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict
from sureline.gate import Gate
from sureline.testing import FixedClock, temporary_gate
from tests.answering import answering_policy
from tests.cases.told import ToldSignal, told

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Acting:
    """A source that does something and then agrees."""

    act: Act
    name: str = "acting"
    kind: SignalKind = SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        await self.act()
        return Signal.measured(self.name, self.kind, 1.0)


class ActingJudge:
    """A judge that does something and then agrees; `told` are the seconds that it was given."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self.told: list[float | None] = []

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        self.told.append(proposal.deadline)
        await self._act()
        return Verdict(agrees=True, confidence=1.0)


async def nothing() -> None:
    return


async def forever() -> None:
    await asyncio.Event().wait()


async def cancelled() -> None:
    raise asyncio.CancelledError


def signal(decision: Decision, name: str) -> Signal:
    return next(one for one in decision.signals if one.name == name)


@pytest.mark.parametrize(
    ("seconds", "left"), [(3.0, 2.0), (5.0, 0.0), (9.0, 0.0)], ids=["some", "none", "too late"]
)
def test_the_judge_has_what_measuring_left(seconds: float, left: float) -> None:
    """It is told how long it has, which is never less than nothing."""
    clock = FixedClock()

    async def take_time() -> None:
        clock.advance(timedelta(seconds=seconds))

    judge = ActingJudge(nothing)
    sources = [ToldSignal(), Acting(take_time)]
    with temporary_gate(answering_policy(), signals=sources, judge=judge, clock=clock) as gate:
        gate.decide_sync(**told(0.9, deadline=5.0))
    assert judge.told == [left]


def test_without_a_deadline_the_usual_limits_hold() -> None:
    """A judge then has half a minute, however long measuring took."""
    judge = ActingJudge(nothing)
    with temporary_gate(answering_policy(), signals=[ToldSignal()], judge=judge) as gate:
        gate.decide_sync(**told(0.9))
    assert judge.told == [30.0]


def test_whatever_is_late_is_failed_and_the_rest_counts() -> None:
    """A source and a judge that never answer cost the deadline once, and a person decides."""
    sources, judge = [ToldSignal(), Acting(forever)], ActingJudge(forever)
    with temporary_gate(answering_policy(), signals=sources, judge=judge) as gate:
        made = gate.decide_sync(**told(0.9, deadline=0.05))
    assert signal(made, "told").value == 0.9
    assert signal(made, "acting").reason == "deadline"
    assert signal(made, "judge").reason == "deadline"
    assert not made.approved


def test_a_decision_that_is_given_up_leaves_no_task_behind() -> None:
    """What measures at the same time is cancelled with it."""
    begun, both = [], asyncio.Event()

    async def begin() -> None:
        begun.append("a source")
        if len(begun) == 2:
            both.set()
        await forever()

    async def give_up(gate: Gate) -> set[asyncio.Task[object]]:
        before = asyncio.all_tasks()
        deciding = asyncio.create_task(gate.decide(**told(0.9)))
        await both.wait()
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding
        return asyncio.all_tasks() - before

    sources = [ToldSignal(), Acting(begin), Acting(begin, name="another")]
    with temporary_gate(answering_policy(), signals=sources, judge=ActingJudge(nothing)) as gate:
        assert gate.run(give_up(gate)) == set()


def test_what_is_cancelled_inside_a_source_is_not_the_decision() -> None:
    """A source or a judge whose own work was cancelled has failed; the others count."""
    sources, judge = [Acting(cancelled), ToldSignal()], ActingJudge(cancelled)
    with temporary_gate(answering_policy(), signals=sources, judge=judge) as gate:
        made = gate.decide_sync(**told(0.9))
    assert signal(made, "acting").reason == "source_raised"
    assert signal(made, "judge").reason == "judge_raised"
    assert signal(made, "told").value == 0.9


class Meeting:
    """An embedder and a source, each of which goes on only once the other has begun."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder()
        self.model_id, self.dimension = self._inner.model_id, self._inner.dimension
        self._looking, self._measuring = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._looking.set()
        await self._measuring.wait()
        return await self._inner.embed(texts)

    async def measuring(self) -> None:
        self._measuring.set()
        await self._looking.wait()


def test_history_and_sources_are_measured_at_the_same_time() -> None:
    """Neither waits for the other to end, or together they could take twice the deadline."""
    meeting = Meeting()
    plugins = Plugins(
        signals=[ToldSignal(), Acting(meeting.measuring)], embedder=meeting, clock=FixedClock()
    )
    policy = answering_policy(weights={"told": 0.8, "history": 0.2}, judge=None)
    with Gate(open_services("sqlite://", plugins=plugins)) as gate:
        gate.run(gate.services.policies.introduce(policy))
        made = gate.decide_sync(**told(0.9, deadline=20.0))
    assert signal(made, "acting").is_measured
    assert signal(made, "history").reason == "too_few"
