"""What the core makes of a mission is what the store takes, step after step."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest

from sureline.adapters.storage.store import Store
from sureline.application.ports.missions import Change, MissionFilter
from sureline.core.mission.acting import Raise, changed, extended, failed_by, resumed, suspended
from sureline.core.mission.concluding import conclude, concluded
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.invoking import begun, ended, renewed
from sureline.core.mission.timing import ticked
from sureline.core.values.mission import Mission
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import MissionKind
from sureline.errors import Conflict
from tests.adapters.storage.mission_samples import HERE, begin, evaluation, mission
from tests.adapters.storage.samples import NOON

KIND = MissionKind(name="reconciliation", judge=None, evaluate_every=2, max_invocations=9)
HOUR = timedelta(hours=1)


def evaluate(chance: random.Random, one: Mission, minutes: int) -> Change:
    """Evaluate a mission with any verdict, or none."""
    achieved = chance.choice([True, False, False, None])
    said = Evaluation(
        source=chance.choice(list(EvaluationSource)),
        achieved=achieved,
        confidence=None if achieved is None else chance.random(),
        fault="timeout" if achieved is None else None,
        reasoning="Acme",
    )
    now, sure = NOON + minutes * timedelta(minutes=1), chance.random() < 0.7
    found = conclude(one, KIND, said, sure=sure, switched=False, now=now, overdue=False)
    name = f"{one.id}.{one.revision}.{one.invocations}.{one.version}"
    step = concluded(one, KIND, said, found, seen=one, decision_id=name, now=now)
    return Change(step=step, evaluation=evaluation(name))


def any_step(chance: random.Random, minutes: int) -> Callable[[Mission], Change]:
    """Return something that may happen to a mission."""
    now, by = NOON + minutes * timedelta(minutes=1), "kim"
    until = now + HOUR
    did = Evidence(calls=(ToolCall(name=chance.choice("abc"), result="Acme"),), tokens=90)
    steps = [
        lambda one: begun(
            one, KIND, owner="w", now=now, until=until, overdue=False, switched=False
        ).step,
        lambda one: renewed(
            one, owner="w", invocation=one.invocations, now=now, until=until + HOUR
        ),
        lambda one: ended(
            one, KIND, owner="w", invocation=one.invocations, evidence=did, now=now
        ),
        lambda one: suspended(one, KIND, by=by, now=now, note="wait"),
        lambda one: resumed(one, KIND, by=by, now=now),
        lambda one: extended(one, KIND, by=by, now=now, more=Raise(invocations=3, hours=2)),
        lambda one: changed(one, by=by, now=now, objective=f"Acme {minutes}"),
        lambda one: ticked(one, KIND, now=now, overdue=chance.random() < 0.1),
        lambda one: failed_by(one, KIND, by=by, now=now),
    ]  # fmt: skip
    weights = [9, 3, 9, 1, 3, 2, 1, 2, 0.2]
    if chance.random() < 0.3:
        return lambda one: evaluate(chance, one, minutes)
    (step,) = chance.choices(steps, weights)
    return lambda one: Change(step=step(one))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_any_walk_of_steps_is_kept_and_verifies(store: Store, seed: int) -> None:
    """Each step is read back as it was made; states and timelines never part."""
    chance = random.Random(seed)
    done = 0
    for name in ("m1", "m2", "m3"):
        await store.missions.create(begin(mission(name, kind=KIND.name)))
        for minutes in range(60):
            try:
                change = await store.missions.change(HERE, name, any_step(chance, minutes * 9))
            except Conflict:
                continue
            assert await store.missions.mission(HERE, name) == change.step.mission
            done += 1
    assert done > 60
    assert len(await store.missions.list(HERE, MissionFilter(), limit=9)) == 3
    assert (await store.ledger.verify()).ok
    assert all(one.ok for one in await store.derived.compare())
