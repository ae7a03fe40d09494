"""A mission's evaluation goes through everything that decisions go through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sureline.application.mission.evidence_intake import read_evidence
from sureline.bootstrap import Plugins, open_services
from sureline.gate import Gate
from sureline.testing import FakeMissionJudge
from tests.cli.conftest import Run

POLICY = """
version: 1
slices: {invoices: {}}
missions:
  books: {judge: {model: "two:sceptic-1"}, evaluate_every: 1, audit_rate: 1.0}
"""
pytestmark = pytest.mark.sqlite_file


@pytest.fixture
def completed(run: Run, folder: Path) -> Run:
    """Return `run` in a store with a mission that is complete, and drawn for an audit."""
    (folder / "policy.yaml").write_text(POLICY)
    assert run("decide", "-", "--policy", "policy.yaml", text="").exit_code == 0
    judge = FakeMissionJudge.saying(True, 0.95, reasoning="all are closed")
    with Gate(open_services("sqlite:///sureline.db", plugins=Plugins(mission_judge=judge))) as gate:
        gate.run(complete(gate))
    return run


async def complete(gate: Gate) -> None:
    async with gate.mission("books", objective="Close them.", id="m1") as mission:
        await mission.before_invocation()
        after = await mission.after_invocation(read_evidence({"answer": "closed"}))
        assert after.state == "completed"


def decision_of(completed: Run) -> str:
    """Return the id of the evaluation that completed the mission."""
    shown = json.loads(completed("mission", "show", "m1", "--json").stdout)
    found: str = shown.get("mission", shown)["last_evaluation"]["decision_id"]
    return found


def test_it_is_audited(completed: Run) -> None:
    """It is due, shown with its objective, and answered; then it is due no more."""
    made = decision_of(completed)
    listed = json.loads(completed("audit", "list", "--json").stdout)["due"]
    assert [one["decision_id"] for one in listed] == [made]
    assert "Close them." in completed("audit", "show", made).stdout
    answered = completed("audit", "answer", made, "--correct", "--by", "Ada")
    assert answered.exit_code == 0, answered.output
    assert json.loads(completed("audit", "list", "--json").stdout)["due"] == []
    assert completed("ledger", "verify").exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ledger", "verify"), id="verify"),
        pytest.param(("report",), id="report"),
        pytest.param(("recalibrate",), id="recalibrate"),
        pytest.param(("simulate",), id="simulate"),
    ],
)
def test_nothing_chokes_on_it(completed: Run, command: tuple[str, ...]) -> None:
    """Commands over a whole ledger end well where missions are in it."""
    found = completed(*command)
    assert found.exit_code == 0, found.output
    assert completed("mission", "show", "m1", "--json").exit_code == 0


def test_an_export_verifies_without_the_store(completed: Run, folder: Path) -> None:
    """The chain of what was exported holds, with the mission's timeline in it."""
    exported = completed("ledger", "export")
    assert exported.exit_code == 0
    assert decision_of(completed) in exported.stdout
    (folder / "out.jsonl").write_text(exported.stdout, "utf-8")
    verified = completed("ledger", "verify", "out.jsonl")
    assert verified.exit_code == 0, verified.output
