"""What people say of missions certifies from which confidence on a judge may be believed."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import pytest

from sureline.application.mission.new_mission import NewMission
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import Cause, Mission, MissionState
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.model_card import ModelCard
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.gate import Gate
from sureline.testing import FakeMissionJudge, temporary_gate

POLICY = """
version: 1
missions:
  books:
    judge: {{model: "{model}"}}
    evaluate_every: 1
    confidence: 0.7
    target_precision: 0.9
    audit_rate: 0.5
"""
SLICE = "mission.books"
BUSY = Evidence(answer="done", calls=(ToolCall(name="close", arguments={}, result="ok", ok=True),))


@dataclass
class Judge:
    """A judge that says `achieved` of everything, as sure as the mission's id has it."""

    seed: int
    card: ModelCard | None = None

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        return Evaluation(
            source=EvaluationSource.JUDGE,
            achieved=True,
            confidence=sureness(self.seed, mission.id),
            card=self.card,
        )


def sureness(seed: int, mission_id: str) -> float:
    """Return how sure the judge is of a mission."""
    return random.Random(f"{seed} {mission_id}").random()


def is_achieved(seed: int, mission_id: str) -> bool:
    """Return the truth: the surer the judge, the likelier, and more so than it says."""
    chance = min(1.0, 0.2 + sureness(seed, mission_id))
    return random.Random(f"{seed} truth {mission_id}").random() < chance


async def one(gate: Gate, mission_id: str, seed: int) -> Mission:
    """Run a mission of one turn, and answer whatever a person is asked about it."""
    missions = gate.services.missions
    await missions.create(NewMission(kind="books", objective="Close them.", id=mission_id))
    invocation = await missions.begin(mission_id, owner="w")
    await missions.end(mission_id, invocation, BUSY)
    mission = await missions.evaluate(mission_id, owner="w")
    right = is_achieved(seed, mission_id)
    if mission.state is MissionState.SUSPENDED:
        answer = missions.complete if right else missions.fail
        await answer(mission_id, by="kim")
    return mission


async def audit(gate: Gate, seed: int) -> int:
    """Answer every audit that is due, and return how many there were."""
    due = await gate.services.ledger.due_audits("default", SLICE, 10_000)
    for found in due:
        stored = await gate.services.ledger.decision("default", found.decision_id)
        assert stored is not None
        assert stored.request is not None
        right = is_achieved(seed, json.loads(stored.request)["metadata"]["mission"])
        await gate.record_outcome(
            found.decision_id,
            action=Action.APPROVE if right else Action.REJECT,
            by="kim",
            source=OutcomeSource.AUDIT,
            anchored=False,
        )
    return len(due)


@pytest.mark.slow
def test_a_kind_of_mission_is_certified_like_any_slice() -> None:
    """Audits and answers certify a threshold; once activated it takes the kind's place."""
    seed = 7
    with temporary_gate(POLICY.format(model="two:sceptic-1"), mission_judge=Judge(seed)) as gate:
        first = [gate.run(one(gate, f"m{number}", seed)) for number in range(400)]
        completed = [mission for mission in first if mission.state is MissionState.COMPLETED]
        assert {mission.state for mission in first} == {
            MissionState.COMPLETED,
            MissionState.SUSPENDED,
        }
        assert all(sureness(seed, mission.id) >= 0.7 for mission in completed)
        assert 0.4 < gate.run(audit(gate, seed)) / len(completed) < 0.6
        calibration = gate.run(gate.recalibrate())
        certificate = next(
            found.certificate for found in calibration.slices if found.slice_key == SLICE
        )
        assert certificate is not None
        gate.run(gate.activate(calibration.id, by="kim"))
        later = [gate.run(one(gate, f"n{number}", seed)) for number in range(150)]
        alone = [mission for mission in later if mission.state is MissionState.COMPLETED]
        assert min(sureness(seed, mission.id) for mission in alone) >= certificate.threshold
        right = sum(is_achieved(seed, mission.id) for mission in alone) / len(alone)
        assert right >= 0.9


@pytest.mark.slow
def test_missions_that_turn_out_wrong_give_their_kind_to_people() -> None:
    """Where audits show that completed missions are wrong, the guard stops completing them."""
    sure = FakeMissionJudge.saying(True, 0.99)
    with temporary_gate(POLICY.format(model="two:sceptic-1"), mission_judge=sure) as gate:
        for number in range(60):
            assert gate.run(one(gate, f"m{number}", 1)).state is MissionState.COMPLETED
        due = gate.run(gate.services.ledger.due_audits("default", SLICE, 100))
        for found in due:
            gate.run(
                gate.record_outcome(
                    found.decision_id,
                    action=Action.REJECT,
                    by="kim",
                    source=OutcomeSource.AUDIT,
                    anchored=False,
                )
            )
        report = gate.run(gate.services.watcher.watch())
        assert report.tripped == (SLICE,)
        asked = gate.run(one(gate, "after", 1))
        assert (asked.state, asked.cause) == (MissionState.SUSPENDED, Cause.SWITCH)


def test_another_judge_is_another_measurement() -> None:
    """What is certified speaks of one judge: the one named, and the model that answers for it."""
    seed, hashes = 7, []
    for named, answers in (("sceptic-1", "s-1"), ("sceptic-1", "s-2"), ("sceptic-2", "s-1")):
        judge = Judge(seed, ModelCard(asked=f"two:{named}", answered="s-1", prompt="p"))
        with temporary_gate(POLICY.format(model=f"two:{named}"), mission_judge=judge) as gate:
            gate.run(one(gate, "m1", seed))
            judge.card = ModelCard(asked=f"two:{named}", answered=answers, prompt="p")
            found = gate.run(one(gate, "m2", seed))
            assert found.last is not None
            stored = gate.run(gate.services.ledger.decision("default", found.last.decision_id))
            assert stored is not None
            hashes.append(stored.measurement_hash)
    assert len(set(hashes)) == 3
