"""An hour without the judge automates nothing more, stops nothing else, and ends by itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from sureline.application.ports.models import ModelLimits
from sureline.core.values.signal import SignalState
from tests.model_servers import Fault, Never, Reset, Say
from tests.outages import Run, Traffic, run

TRAFFIC = Traffic(
    step=timedelta(minutes=15),
    otherwise=0.5,
    labels=300,
    limits=ModelLimits(seconds=20.0, retries=0, rest_seconds=60.0),
)
SILENT = replace(TRAFFIC, limits=replace(TRAFFIC.limits, seconds=2.0))
OUTAGES = {
    "switched off": Reset(),
    "silent": Never(),
    "errors": Fault(503),
    "prose": Say("It looks fine to me."),
    "another model": Say('{"agrees": true', model="somebody else"),
}


@cache
def without() -> Run:
    return run(TRAFFIC, None)


@cache
def having(outage: str) -> Run:
    return run(SILENT if outage == "silent" else TRAFFIC, OUTAGES[outage])


any_outage = pytest.mark.parametrize("outage", OUTAGES)
unreachable = pytest.mark.parametrize("outage", ["switched off", "silent", "errors"])


@any_outage
def test_nothing_is_automated_that_would_not_have_been(outage: str) -> None:
    """Decision by decision: what is automated with the outage is automated without it."""
    assert having(outage).automated <= without().automated
    assert without().automated


@unreachable
def test_what_no_judge_was_to_see_goes_on_as_before(outage: str) -> None:
    """Outputs that are not drawn for the judge take the same routes for the same reasons."""
    before = {one.decision.id: one.decision for one in without().made}
    unjudged = [
        one.decision
        for one in having(outage).during(out=True)
        if one.judge.state is SignalState.NOT_SAMPLED
    ]
    assert any(one.approved for one in unjudged)
    for one in unjudged:
        assert (one.route, one.reasons) == (before[one.id].route, before[one.id].reasons)


@any_outage
def test_what_the_judge_was_to_see_goes_to_people(outage: str) -> None:
    """A judge that is out is failed, with a reason, and never anything else."""
    drawn = [
        one
        for one in having(outage).during(out=True)
        if one.judge.state is not SignalState.NOT_SAMPLED
    ]
    assert drawn
    assert {one.judge.state for one in drawn} == {SignalState.FAILED}
    assert all(one.judge.reason for one in drawn)
    assert not any(one.decision.approved for one in drawn)


@unreachable
def test_a_model_that_is_out_is_left_alone(outage: str) -> None:
    """After five faults it is asked by one call at a time; the others do not wait for it."""
    found = having(outage)
    steps = [n for n in range(TRAFFIC.steps) if TRAFFIC.is_out(n)]
    assert all(found.reached[n] <= 1 for n in steps[2:])
    reasons = {one.judge.reason for one in found.during(out=True)}
    assert "resting" in reasons


@any_outage
def test_it_recovers_by_itself(outage: str) -> None:
    """Within one step of the end of the outage all that is drawn is judged as if it never was."""
    before = {one.decision.id: one.decision for one in without().made}
    later = list(having(outage).after)
    first = later[0].step
    judged = [one for one in later if one.judge.is_measured]
    assert any(one.step == first for one in judged)
    for one in later:
        if one.step > first:
            was = before[one.decision.id]
            assert one.judge.state is was.signals[-1].state
            if outage != "another model":
                assert one.decision.route is was.route
