"""A kind of mission is a slice: what takes proposals leaves it out, what counts labels does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sureline.application.canary_evaluators import examinees
from sureline.application.policy_report import policy_report
from sureline.application.ports.ledger import RouteDay
from sureline.application.route_rates import of_proposals
from sureline.application.simulate import Change, Simulator
from sureline.bootstrap import Plugins, load_policy, provider_warnings
from sureline.core.gate.thresholds import Threshold, threshold_now
from sureline.core.values.certificate import Scale
from sureline.core.values.policy import Mode
from sureline.core.values.proposal import Stakes
from sureline.errors import Refused, SurelineError, UnknownSlice
from sureline.gate import Gate
from sureline.testing import MOMENT, FakeModels, temporary_gate
from tests.adapters.storage.samples import record

KEY = "mission.recon"
POLICY = """
version: 1
missions:
  recon:
    judge: {model: "two:sceptic-1"}
    agent: {model: "one:alpha-9"}
    confidence: 0.8
slices:
  notes: {mode: route, weights: {verification: 1}, judge: {model: "three:judge-1"}}
"""


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate with one kind of mission and one slice."""
    with temporary_gate(POLICY, model_client=FakeModels(lambda *_: "{}")) as opened:
        yield opened


def decide(gate: Gate) -> object:
    return gate.decide_sync(slice_key=KEY, task="t", output={"achieved": True})


def decide_with_an_id(gate: Gate) -> object:
    written(gate, id="m-1.1.3")
    return gate.decide_sync(slice_key=KEY, task="t", output={"achieved": True}, id="m-1.1.3")


def simulate(gate: Gate) -> object:
    return simulated(gate, KEY)


def written(gate: Gate, number: int = 1, **changes: Any) -> None:
    """Write an evaluation of the kind."""
    policy = gate.run(gate.services.policies.latest())
    values = {"slice_key": KEY, "measurement_hash": policy.measurement_hashes[KEY], "vector": None}
    values |= {"created_at": MOMENT, "route": "auto_approve", **changes}
    gate.run(gate.services.ledger.append(record(number, **values)))


def simulated(gate: Gate, slice_key: str | None) -> Any:
    services = gate.services
    simulator = Simulator(
        ledger=services.ledger,
        registry=services.store.registry,
        policies=services.policies,
        clock=services.clock,
        secret=services.store.secret,
        workspace="default",
    )
    return gate.run(simulator.simulate(Change(slice_key=slice_key)))


@pytest.mark.parametrize("entrance", [decide, decide_with_an_id, simulate])
def test_no_proposal_is_taken_into_a_kind_of_mission(
    gate: Gate, entrance: Callable[[Gate], object]
) -> None:
    """An agent that proposed there would be its own judge; a replay would route what is none."""
    with pytest.raises(UnknownSlice, match=r"'mission\.recon' is a kind of mission"):
        entrance(gate)


def test_of_many_proposals_only_that_one_is_refused(gate: Gate) -> None:
    """The others are decided."""
    one = {"task": "t", "output": {"text": "x"}}
    many = [{**one, "slice_key": key} for key in (KEY, "notes")]
    with pytest.raises(SurelineError, match="is a kind of mission"):
        gate.run(gate.decide_many(many))
    (counts,) = gate.run(gate.services.ledger.route_counts("default")).items()
    assert counts[0] == "notes"


def test_an_evaluation_releases_nothing(gate: Gate) -> None:
    """That a mission is complete is no approval which somebody could use."""
    answer = b'{"output": {"achieved": true}}'
    written(gate, body=b'{"id": "d1", "policy": "p", "stakes": "reversible"}', answer=answer)
    with pytest.raises(Refused, match="evaluation of a mission releases nothing"):
        gate.run(gate.consume("d1", output={"achieved": True}))


def test_a_simulation_leaves_missions_out(gate: Gate) -> None:
    """What is replayed are proposals."""
    written(gate)
    assert [one.slice_key for one in simulated(gate, None)] == ["notes"]


def test_canaries_are_put_to_judges_of_outputs_only() -> None:
    """A judge of missions answers another question than the canaries ask."""
    policy = load_policy(POLICY).policy
    assert [one.slices for one in examinees(policy)] == [("notes",)]
    assert examinees(policy, slice_key=KEY) == ()


def test_little_automation_is_no_remark_about_missions(gate: Gate) -> None:
    """A mission goes on after most of its evaluations; the guard looks at it all the same."""
    written(gate, 1)
    for number in range(2, 9):
        written(gate, number, route="auto_reject")
    watched = {one.slice_key: one for one in gate.run(gate.services.watcher.watch()).slices}
    assert watched[KEY].months[-1].automation == 1 / 8
    assert not watched[KEY].low_automation


def test_a_report_speaks_of_missions_and_changes_no_key(gate: Gate) -> None:
    """Their certificate is missing labels like any; no key is offered that a kind does not have."""
    written(gate)
    report = gate.run(gate.services.reporter.report())
    one = next(one for one in report.slices if one.slice_key == KEY)
    assert (one.held_by, one.held is not None and one.held.threshold) == ("hypothesis", 0.8)
    assert one.offers
    assert all(offer.change is None for offer in one.offers)
    assert one.levers == ()
    assert report.routes.months == ()


def test_the_rate_of_automation_counts_proposals() -> None:
    """Evaluations of missions are in no figure of the whole workspace."""
    days = [RouteDay(slice_key=key, day=1, route="auto_approve", count=1) for key in (KEY, "notes")]
    assert [one.slice_key for one in of_proposals(days)] == ["notes"]


def test_a_mission_completes_on_its_confidence_until_a_certificate_is_there() -> None:
    """The threshold without proof is the operator's, on the scale that a judge speaks in."""
    one = load_policy(POLICY).policy.slices[KEY]
    found = threshold_now(one, None, measurement_hash="m", stakes=Stakes.REVERSIBLE, now=MOMENT)
    assert found == Threshold(auto=0.8, reject=0.4, absent="none", scale=Scale.COMPOSITE)
    assert found.uncertified


def test_what_people_complete_is_theirs_in_the_statistics() -> None:
    """Where no mission completes by itself each answer is a label of a fair sample."""
    text = POLICY.replace("confidence: 0.8", "auto_complete: false")
    policy = load_policy(text).policy
    assert policy.slices[KEY].mode is Mode.HUMAN_ONLY
    (mission, notes) = policy_report(policy)
    assert (mission.may_automate, mission.confidence) == (False, 0.7)
    assert notes.confidence is None


def test_a_judge_whose_provider_is_unknown_is_told_of() -> None:
    """A misspelt provider of a judge is found before a mission needs it."""
    policy = load_policy(POLICY.replace("two:sceptic", "opnai:sceptic")).policy
    told = [one for one in provider_warnings(policy) if "opnai" in one]
    assert told[0].startswith("mission.recon.judge.model (opnai:sceptic-1): the installed library")
    plugged = Plugins(model_client=FakeModels(lambda *_: "{}"))
    assert provider_warnings(policy, plugged) == ()
