"""The fakes that users test their own programs with do what they say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sureline import PolicyError, Route, SignalKind, SignalState, Verdict
from sureline.testing import (
    MOMENT,
    FakeJudge,
    FakeMissionJudge,
    FixedClock,
    FixedSignal,
    PinnedSampling,
    temporary_gate,
)
from tests.a_mission import KIND, a_mission

POLICY = """
version: 1
slices:
  notes:
    mode: route
    weights: {verification: 0.5, tone: 0.5}
    output: {structured: false}
    prose: [{max_length: 100}]
    audit_rate: 0.5
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: "2026-01-01"}
"""
JUDGED = POLICY + '    judge: {model: "test:judge", high_stakes: 1, borderline: 1, otherwise: 1}\n'


def _tone(says: float | SignalState) -> FixedSignal:
    return FixedSignal("tone", SignalKind.OBJECTIVE, says)


@pytest.mark.parametrize(
    ("says", "route"),
    [
        pytest.param(1.0, Route.AUTO_APPROVE, id="good"),
        pytest.param(0.5, Route.HUMAN_REVIEW, id="middling"),
        pytest.param(SignalState.FAILED, Route.HUMAN_REQUIRED, id="failed"),
        pytest.param(SignalState.NOT_APPLICABLE, Route.HUMAN_REQUIRED, id="not applicable"),
    ],
)
def test_a_fixed_signal_says_the_same(says: float | SignalState, route: Route) -> None:
    """A signal pinned to a value or a state leads to the route that a real one would."""
    with temporary_gate(POLICY, signals=[_tone(says)]) as gate:
        assert gate.decide_sync(slice_key="notes", task="t", output="Hello.").route is route


def test_the_clock_stands_still_until_it_is_moved() -> None:
    """A decision is dated by the fixed clock; advancing it ends a hypothesis."""
    clock = FixedClock()
    with temporary_gate(POLICY, signals=[_tone(1.0)], clock=clock) as gate:
        first = gate.decide_sync(slice_key="notes", task="t", output="One.")
        clock.advance(timedelta(days=60))
        second = gate.decide_sync(slice_key="notes", task="t", output="Two.")
    assert first.created_at == MOMENT
    assert first.approved
    assert not second.approved


@pytest.mark.parametrize(
    ("says", "route"),
    [
        pytest.param(Verdict(agrees=True, confidence=1.0), Route.AUTO_APPROVE, id="agrees"),
        pytest.param(Verdict(agrees=False, confidence=0.9), Route.HUMAN_REQUIRED, id="refutes"),
    ],
)
def test_a_fake_judge_says_what_it_is_told(says: Verdict, route: Route) -> None:
    """A judge that refutes brings a person; it remembers what it was shown."""
    judge = FakeJudge(says)
    with temporary_gate(JUDGED, signals=[_tone(1.0)], judge=judge) as gate:
        decision = gate.decide_sync(slice_key="notes", task="t", output="Hello.")
    assert decision.route is route
    assert [one.task for one in judge.asked] == ["t"]


def test_a_judge_that_raises_is_a_failed_signal() -> None:
    """Whatever a judge raises is recorded as its state, not raised."""
    judge = FakeJudge(RuntimeError("no connection"))
    with temporary_gate(JUDGED, signals=[_tone(1.0)], judge=judge) as gate:
        decision = gate.decide_sync(slice_key="notes", task="t", output="Hello.")
    states = {signal.name: signal.state for signal in decision.signals}
    assert states["judge"] is SignalState.FAILED


def test_pinned_sampling_samples_the_same() -> None:
    """The same ids give the same audits in every run, and another secret gives others."""

    def audits(sampling: PinnedSampling | None) -> list[bool]:
        with temporary_gate(POLICY, signals=[_tone(1.0)], sampling=sampling) as gate:
            return [
                gate.decide_sync(slice_key="notes", task="t", output="Hi.", id=f"n{n}").audit
                for n in range(40)
            ]

    assert audits(None) == audits(PinnedSampling())
    assert audits(None) != audits(PinnedSampling(b"another"))


def test_the_environment_does_not_reach_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill switch on the machine that runs the tests does not change them."""
    monkeypatch.setenv("SURELINE_FORCE_HUMAN", "1")
    with temporary_gate(POLICY, signals=[_tone(1.0)]) as gate:
        assert gate.decide_sync(slice_key="notes", task="t", output="Hello.").approved


def test_a_signal_that_nothing_measures_is_refused() -> None:
    """A policy whose weights count on an absent source fails as it would in earnest."""
    with pytest.raises(PolicyError, match="tone"), temporary_gate(POLICY):
        pass


async def test_a_fake_judge_of_missions_says_what_it_is_told_to() -> None:
    """It gives one evaluation, or makes one of each mission, or raises; and it notes who asked."""
    sure = FakeMissionJudge.saying(True, 0.9, reasoning="All are closed.")
    said = await sure.judge(a_mission(), KIND)
    assert (said.achieved, said.confidence, said.reasoning) == (True, 0.9, "All are closed.")
    later = FakeMissionJudge(lambda mission: said if mission.invocations > 3 else LookupError())
    assert await later.judge(a_mission(invocations=6), KIND) is said
    with pytest.raises(LookupError):
        await later.judge(a_mission(), KIND)
    assert [one.invocations for one in later.asked] == [6, 3]
