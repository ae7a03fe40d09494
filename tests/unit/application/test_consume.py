"""An approval is used once, soon, and only while the gate would give it again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from sureline.core.values.decision import Decision
from sureline.errors import Refused
from sureline.gate import Gate
from sureline.testing import FixedClock, temporary_gate

POLICY = """
version: 1
action_classes:
  payment: {stakes: irreversible}
slices:
  notes:
    mode: MODE
    weights: {verification: 1}
    hypothesis: {auto: AUTO, allow_uncertified: true, starts: 2026-01-01}
    rules: [{field: text, required: true, penalty: PENALTY}]
"""


def policy(mode: str = "route", auto: float = 0.85, penalty: float = 0.3, more: str = "") -> str:
    text = POLICY.replace("MODE", mode).replace("AUTO", str(auto))
    return text.replace("PENALTY", str(penalty)) + more


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def gate(clock: FixedClock) -> Iterator[Gate]:
    with temporary_gate(policy(), clock=clock) as opened:
        yield opened


def approved(gate: Gate, **more: Any) -> Decision:
    decision = gate.decide_sync(slice_key="notes", task="note", output={"text": "hello"}, **more)
    assert decision.approved
    return decision


def activate(gate: Gate, text: str) -> None:
    async def work() -> None:
        book = gate.services.policies
        loaded = await book.propose(text)
        await book.activate(loaded.policy.hash, by="ada")

    gate.run(work())


def test_an_approval_is_used_once(gate: Gate) -> None:
    """The second use of the same approval is refused."""
    decision = approved(gate)
    assert gate.run(gate.consume(decision.id)).id == decision.id
    with pytest.raises(Refused, match="used before"):
        gate.run(gate.consume(decision.id))


@pytest.mark.parametrize("minutes", [11, -1], ids=["too late", "before it was made"])
def test_an_approval_holds_for_its_minutes(gate: Gate, clock: FixedClock, minutes: int) -> None:
    """An old approval is refused, and so is one that a clock set back puts into the future."""
    decision = approved(gate)
    clock.advance(timedelta(minutes=minutes))
    with pytest.raises(Refused, match="too old"):
        gate.run(gate.consume(decision.id))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(policy(penalty=0.45), id="measured otherwise"),
        pytest.param(policy(mode="log_only"), id="log only"),
        pytest.param(policy(mode="human_only"), id="human only"),
        pytest.param(policy(auto=1.0, penalty=0.3).replace("auto: 1.0, allow_uncertified: true",
                     "auto: 0.9, allow_uncertified: false"), id="hypothesis withdrawn"),
        pytest.param(policy(more="    four_eyes: true\n"), id="two people"),
    ],
)  # fmt: skip
def test_a_changed_policy_stops_approvals_in_flight(gate: Gate, changed: str) -> None:
    """What the gate would no longer let pass may not be used either."""
    decision = approved(gate)
    activate(gate, changed)
    with pytest.raises(Refused, match="has changed"):
        gate.run(gate.consume(decision.id))


@pytest.mark.parametrize("action", ["reject", "edit", "escalate"])
def test_a_persons_objection_stops_an_approval(gate: Gate, action: str) -> None:
    """The person wins over the gate, as long as the output was not used."""
    decision = approved(gate)
    gate.run(gate.record_outcome(decision.id, action=action, by="ada"))
    with pytest.raises(Refused, match="person"):
        gate.run(gate.consume(decision.id))


def test_a_later_approval_lifts_the_objection(gate: Gate) -> None:
    """The newest answer counts."""
    decision = approved(gate)
    gate.run(gate.record_outcome(decision.id, action="reject", by="ada"))
    gate.run(gate.record_outcome(decision.id, action="approve", by="grace"))
    assert gate.run(gate.consume(decision.id)).id == decision.id


@pytest.mark.parametrize("source", ["incident", "import"])
def test_only_a_reviewer_lifts_an_objection(gate: Gate, source: str) -> None:
    """A label from elsewhere is no permission against a person's no."""
    decision = approved(gate)
    gate.run(gate.record_outcome(decision.id, action="reject", by="ada"))
    gate.run(gate.record_outcome(decision.id, action="approve", by="ops", source=source))
    with pytest.raises(Refused, match="person"):
        gate.run(gate.consume(decision.id))


@pytest.mark.parametrize(
    ("source", "released"), [("review", True), ("import", False)], ids=["review", "import"]
)
def test_only_a_reviewers_approval_releases_what_people_decide(
    gate: Gate, clock: FixedClock, source: str, released: bool
) -> None:
    """A label that was imported is no permission to act; a yes is one once nobody can object."""
    decision = gate.decide_sync(
        slice_key="notes", task="pay", output={"text": "pay"}, action_class="payment"
    )
    assert not decision.approved
    gate.run(gate.record_outcome(decision.id, action="approve", by="ada", source=source))
    with pytest.raises(Refused):
        gate.run(gate.consume(decision.id))
    clock.advance(timedelta(seconds=10))
    if released:
        assert gate.run(gate.consume(decision.id)).id == decision.id
    else:
        with pytest.raises(Refused, match="no person"):
            gate.run(gate.consume(decision.id))
