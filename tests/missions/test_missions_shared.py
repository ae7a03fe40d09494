"""Missions in a store that several processes share, on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sureline.application.mission.evidence_intake import read_evidence
from sureline.application.mission.new_mission import NewMission
from sureline.bootstrap import Plugins, open_services
from sureline.core.values.outcome import Action
from sureline.gate import Gate
from sureline.testing import FakeMissionJudge
from tests.postgres import Postgres
from tests.postgres import postgres as postgres

POLICY = "version: 1\nmissions: {books: {judge: {model: 'two:sceptic-1'}, evaluate_every: 1}}\n"
WORKER = """
import sys
from sureline.bootstrap import Plugins, open_services
from sureline.gate import Gate
from sureline.testing import FakeMissionJudge

judge = FakeMissionJudge.saying(True, 0.5)
with Gate(open_services(sys.argv[1], plugins=Plugins(mission_judge=judge))) as gate:
    missions = gate.services.missions
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(5):
        gate.run(missions.evaluate("m1", owner="worker"))
        gate.run(missions.tick())
print(len(judge.asked))
"""


async def one_turn(gate: Gate) -> None:
    """Make the mission m1 and its first invocation."""
    missions = gate.services.missions
    await gate.services.policies.introduce(POLICY)
    await missions.create(NewMission(kind="books", objective="Close them.", id="m1"))
    invocation = await missions.begin("m1", owner="w")
    await missions.end("m1", invocation, read_evidence({"answer": "closed"}))


@pytest.mark.sqlite_file
@pytest.mark.slow
def test_two_processes_that_evaluate_and_tick_ask_the_judge_once(tmp_path: Path) -> None:
    """One asks, both go on, and there is one verdict, one escalation and one row."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    with Gate(open_services(url)) as gate:
        gate.run(one_turn(gate))
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", WORKER, url],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        asked = [int(worker.communicate(timeout=30)[0]) for worker in workers]
        events = gate.run(gate.services.missions.events("m1"))
        found = gate.run(gate.services.missions.mission("m1"))
    assert sum(asked) == 1
    assert [one.kind.value for one in events].count("evaluated") == 1
    assert [one.kind.value for one in events].count("suspended") == 1
    assert (found.state, found.cause) == ("suspended", "unsure")


def test_missions_are_labelled_and_calibrated_on_postgresql(postgres: Postgres) -> None:
    """An answer is a label there too; recalibration counts the slice and the chain holds."""
    plugins = Plugins(mission_judge=FakeMissionJudge.saying(True, 0.5))
    with Gate(open_services(postgres.database(), plugins=plugins)) as gate:
        gate.run(one_turn(gate))
        missions = gate.services.missions
        asked = gate.run(missions.evaluate("m1", owner="w"))
        assert asked.cause == "unsure"
        assert asked.last is not None
        gate.run(missions.complete("m1", by="kim"))
        said = gate.run(gate.services.ledger.outcomes("default", asked.last.decision_id))
        calibration = gate.run(gate.recalibrate())
        verified = gate.run(gate.services.store.ledger.verify())
    assert [one.action for one in said] == [Action.APPROVE]
    assert "mission.books" in {one.slice_key for one in calibration.slices}
    assert verified.ok
