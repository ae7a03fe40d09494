"""`sureline init` writes a working start and never overwrites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sureline.cli.init import STARTER_FILES
from tests.cli.conftest import Run


def test_it_writes_a_policy_and_proposals_that_work(run: Run, folder: Path) -> None:
    """What is written is sound, and deciding about it works at once."""
    result = run("init", "new/place", "--json")
    assert result.exit_code == 0
    assert [Path(name).name for name in json.loads(result.stdout)["written"]] == [*STARTER_FILES]
    place = folder / "new" / "place"
    assert run("policy", "check", str(place / "policy.yaml")).exit_code == 0
    decided = run("decide", str(place / "proposals.jsonl"), "--policy", str(place / "policy.yaml"))
    assert decided.exit_code == 1
    routes = [json.loads(line)["would_route"] for line in decided.stdout.splitlines()]
    assert routes == ["human_review", "human_review", "auto_reject"]


@pytest.mark.parametrize("name", STARTER_FILES)
def test_what_is_there_stays(name: str, run: Run, folder: Path) -> None:
    """If one of the files is there, nothing is written at all."""
    (folder / name).write_text("mine")
    result = run("init", ".")
    assert result.exit_code == 2
    assert f"{name} is there already" in result.stderr
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "mine"


def test_a_file_in_the_way_is_reported(run: Run, folder: Path) -> None:
    """Where no folder can be made, the error says so in one line."""
    (folder / "taken").write_text("a file")
    result = run("init", "taken/place")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
