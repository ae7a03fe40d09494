"""A replay under the same rules gives the same routes; other rules give what the gate would."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from sureline.application.recorded import differing_signals
from sureline.application.simulate import Change, Simulator, SliceSimulation
from sureline.bootstrap import load_policy
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.policy import Policy, SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict
from sureline.gate import Gate
from sureline.testing import temporary_gate

POLICY = """
version: 1
action_classes:
  refund: {stakes: high_cost, human: by_confidence}
  pay: {stakes: irreversible, human: always}
slices:
  a:
    mode: route
    weights: {luck: 0.7, judge: 0.3}
    output: {structured: false}
    judge: {model: j, borderline: 0.1, otherwise: 0.3}
    audit_rate: 0.2
    reject_audit_rate: 0.2
    hypothesis: {auto: 0.8, reject: 0.5, allow_uncertified: true, starts: 2026-01-01}
"""


class Luck:
    """Says what the task says, or fails."""

    name = "luck"
    kind = SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        value = float(proposal.task)
        if value < 0.05:
            return Signal.failed(self.name, self.kind, "unlucky")
        return Signal.measured(self.name, self.kind, value)


class Moody:
    """A judge that agrees, disagrees, wavers or breaks, by the task."""

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        mood = int(float(proposal.task) * 1000) % 5
        if mood == 0:
            raise RuntimeError("broken")
        return Verdict(agrees=mood > 2, confidence=0.9 if mood == 1 else 0.3)


@pytest.fixture
def gate() -> Any:
    with temporary_gate(POLICY, signals=[Luck()], judge=Moody()) as opened:
        yield opened


def decide(gate: Gate, number: int, **changes: Any) -> str:
    dice = random.Random(number)
    more: dict[str, Any] = {
        "action_class": dice.choice([None, None, None, "refund", "pay", "unknown"]),
        "stakes": dice.choice([None, None, None, "high_cost"]),
        "force_human": dice.random() < 0.1,
    }
    decided = gate.decide_sync(
        slice_key="a",
        task=f"{dice.random():.4f}{number:04}",
        output="x",
        id=f"d{number}",
        **{**more, **changes},
    )
    return decided.id


def simulator(gate: Gate) -> Simulator:
    services = gate.services
    return Simulator(
        ledger=services.ledger,
        registry=services.registry,
        policies=services.policies,
        clock=services.clock,
        secret=services.decider.secret,
        workspace=services.workspace,
    )


def simulate(gate: Gate, **change: Any) -> SliceSimulation:
    (found,) = gate.run(simulator(gate).simulate(Change(**change)))
    return found


def other(text: str) -> Policy:
    return load_policy(text).policy


def test_the_same_rules_give_the_same_routes(gate: Gate) -> None:
    """300 decisions with all kinds of stakes, judges and failures: none moves."""
    for number in range(300):
        decide(gate, number)
    found = simulate(gate)
    assert not found.simulation.moved
    assert found.simulation.before.routes == found.simulation.after.routes
    assert len(found.simulation.before.routes) == 4
    assert found.threshold_from == "hypothesis"
    assert found.simulation.judge_unknown == 0


def test_a_stricter_policy_gives_what_the_gate_would_have_done(gate: Gate) -> None:
    """Replaying under another file equals deciding under it, where nothing needs a new judge."""
    stricter = POLICY.replace("auto: 0.8, reject: 0.5", "auto: 0.9, reject: 0.6").replace(
        "weights: {luck: 0.7, judge: 0.3}", "weights: {luck: 1.0}"
    )
    without = "    judge: {model: j, borderline: 0.1, otherwise: 0.3}\n"
    stricter = stricter.replace(without, "")
    for number in range(200):
        decide(gate, number)
    replayed = simulate(gate, policy=other(stricter)).simulation.after.routes
    with temporary_gate(stricter, signals=[Luck()]) as fresh:
        routes: dict[str, int] = {}
        for number in range(200):
            decided = fresh.run(fresh.services.ledger.decision("default", decide(fresh, number)))
            assert decided is not None
            routes[decided.route] = routes.get(decided.route, 0) + 1
    assert replayed == routes


def test_a_judge_that_was_not_asked_is_unknown(gate: Gate) -> None:
    """Near another threshold the judge must speak; nobody knows what it would say."""
    for number in range(100):
        decide(gate, number, action_class=None, stakes=None, force_human=False)
    found = simulate(gate, threshold=0.6)
    assert found.simulation.judge_unknown > 0
    assert found.simulation.judged >= found.simulation.judge_unknown


def test_an_incident_is_no_sample(gate: Gate) -> None:
    """What was heard of by chance does not enter the precision; it is told beside it."""
    for number in range(40):
        name = f"i{number}"
        gate.decide_sync(slice_key="a", task="0.983", output="x", id=name)
        decided = gate.run(gate.services.ledger.decision("default", name))
        assert decided is not None
        gate.run(
            gate.record_outcome(name, action=Action.REJECT, by="kim", source=OutcomeSource.INCIDENT)
        )
    simulation = simulate(gate).simulation
    share = simulation.after.precision
    audited = simulation.after.reviews
    assert share.labels == audited < 40
    assert simulation.incidents == 40 - audited


def test_weights_are_tried_for_themselves(gate: Gate) -> None:
    """New weights have no certificate, and the active policy keeps its own."""
    for number in range(50):
        decide(gate, number)
    found = simulate(gate, weights={"luck": 1.0})
    assert found.missing is not None
    assert dict(gate.run(gate.services.policies.latest()).slices["a"].weights)["judge"] == 0.3


def test_rates_of_a_judge_do_not_change_what_it_says() -> None:
    """How often it is asked is no reason to measure again; another model is."""
    before = other(POLICY).raw["slices"]["a"]
    rarer = other(POLICY.replace("otherwise: 0.3", "otherwise: 0.1")).raw["slices"]["a"]
    model = other(POLICY.replace("model: j", "model: k")).raw["slices"]["a"]
    assert differing_signals(before, rarer) == frozenset()
    assert differing_signals(before, model) == {"judge"}


def test_an_unknown_policy_is_told(gate: Gate) -> None:
    """Recorded stakes then count as claimed, which is the careful side."""
    decide(gate, 1)

    class Forgetful:
        def __init__(self, book: Any) -> None:
            self._book = book

        async def latest(self) -> Policy:
            return await self._book.latest()  # type: ignore[no-any-return]

        async def stored(self, policy_hash: str) -> Policy:
            from sureline.errors import NotFound

            raise NotFound(policy_hash)

    one = replace(simulator(gate), policies=Forgetful(gate.services.policies))  # type: ignore[arg-type]
    (found,) = gate.run(one.simulate(Change()))
    assert found.gaps.unknown_policy == 1
