"""What the command line does with a kind of mission where slices are meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

KEY = "mission.recon"
POLICY = """\
version: 1
missions:
  recon: {judge: {model: sceptic-1}, agent: {model: alpha-9}}
  by_hand: {judge: {model: sceptic-1}, agent: {model: alpha-9}, auto_complete: false}
slices:
  notes: {weights: {verification: 1}}
"""
LOG = [{"task": "t", "output": {"achieved": True}, "mission": 1.0, "right": True}]


@pytest.fixture
def started(run: Run, folder: Path) -> Run:
    """Work in a folder with a store that holds the policy, a log and a proposal for the kind."""
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    (folder / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LOG), "utf-8")
    (folder / "one.jsonl").write_text(proposal(slice_key=KEY) + "\n", "utf-8")
    assert run("decide", "one.jsonl", "--policy", "policy.yaml").exit_code == 2
    return run


IMPORTED = ("import", "log.jsonl", "--slice", KEY, "--labelled", "all", "--map", "label=right")
CASES = {
    "decide": ("decide", "one.jsonl"),
    "import": (*IMPORTED, "--map", "task=task", "--map", "output=output"),
    "signals": (*IMPORTED, "--map", "signal.mission=mission", "--label-source", "human"),
    "simulate": ("simulate", "--slice", KEY),
}


@pytest.mark.parametrize("arguments", CASES.values(), ids=CASES)
def test_a_kind_of_mission_is_refused(started: Run, arguments: tuple[str, ...]) -> None:
    """Each command says that evaluations are made by sureline alone; nothing is written."""
    result = started(*arguments)
    assert result.exit_code == 2
    assert f"'{KEY}' is a kind of mission" in " ".join(result.stderr.split())
    exported = map(json.loads, started("ledger", "export").stdout.splitlines())
    assert not [one for one in exported if one.get("kind") in {"decision", "outcome"}]


def test_a_check_of_the_policy_says_when_missions_complete(run: Run, folder: Path) -> None:
    """What is needed for a certificate is told, and what holds without one."""
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    result = run("policy", "check", "policy.yaml")
    told = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert (
        f"{KEY}: a mission completes by itself where its judge is at least 0.7 sure, until 59 "
        "labels without an error certify a threshold"
    ) in told
    assert "mission.by_hand: people complete missions" in told
