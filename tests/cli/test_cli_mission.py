"""`sureline mission`: missions listed, shown, made and answered by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.supervised import POLICY

ADA = ("--by", "Ada")
pytestmark = pytest.mark.sqlite_file


@pytest.fixture
def mission(run: Run, folder: Path) -> Run:
    """Return `run` in a store with one mission, m1."""
    (folder / "policy.yaml").write_text(POLICY)
    assert run("decide", "-", "--policy", "policy.yaml", text="").exit_code == 0
    made = run(
        *("mission", "create", "--kind", "books", "--id", "m1"),
        *("--objective", "Close the six disputes.", "--criterion", "None is open."),
        *("--hours", "5", "--max-invocations", "7"),
    )
    assert (made.exit_code, made.stdout) == (0, "m1 is created (created)\n")
    return run


def shown(run: Run) -> dict[str, object]:
    """Return m1 as JSON."""
    found: dict[str, object] = json.loads(run("mission", "show", "m1", "--json").stdout)
    return found


def test_it_is_listed_and_shown(mission: Run) -> None:
    """Table and timeline say how it stands; JSON says the same."""
    listed = mission("mission", "list").stdout
    assert "m1" in listed
    assert "0 of 7" in listed
    told = mission("mission", "show", "m1").stdout
    assert "Close the six disputes." in told
    assert "None is open." in told
    assert "Timeline" in told
    assert shown(mission)["criteria"] == ["None is open."]
    events = json.loads(mission("mission", "events", "m1", "--json").stdout)["events"]
    assert [one["kind"] for one in events] == ["created"]
    filtered = mission("mission", "list", "--state", "failed", "--json").stdout
    assert json.loads(filtered) == {"missions": []}


def test_people_answer_for_it(mission: Run) -> None:
    """Each act has its state, and its row with the name of who did it."""
    acts = [
        (("extend", "--hours", "1", "--invocations", "3"), "created"),
        (("change", "--objective", "Close five."), "created"),
        (("complete", "--note", "seen"), "completed"),
        (("erase", "--reason", "asked for"), "completed"),
    ]
    for (name, *more), state in acts:
        done = mission("mission", name, "m1", *more, *ADA)
        assert done.exit_code == 0, done.stderr
        assert shown(mission)["state"] == state
    events = json.loads(mission("mission", "events", "m1", "--json").stdout)["events"]
    assert [one["kind"] for one in events][1:] == ["extended", "changed", "completed", "erased"]
    assert {one["by"] for one in events[1:]} == {"Ada"}
    assert "(erased)" in mission("mission", "show", "m1").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(("show", "m9"), 2, "no mission 'm9'", id="unknown"),
        pytest.param(("list", "--kind", "none"), 2, "no kind of mission 'none'", id="kind"),
        pytest.param(("list", "--state", "x"), 2, "expected one of created", id="state"),
        pytest.param(("resume", "m1", *ADA), 2, "only a suspended mission", id="not suspended"),
        pytest.param(("extend", "m1", *ADA), 2, "which limit", id="no limit"),
        pytest.param(("change", "m1", *ADA), 2, "what is changed", id="no change"),
        pytest.param(("fail", "m1", "--by", " "), 2, "--by", id="nobody"),
        pytest.param(("erase", "m1", "--reason", " ", *ADA), 2, "say why", id="no reason"),
        pytest.param(("list", "--store", "sqlite:///no.db"), 3, "no store", id="no store"),
    ],
)
def test_what_cannot_be_done(
    arguments: tuple[str, ...], code: int, said: str, mission: Run
) -> None:
    """Bad input ends with 2, a store that is away with 3, each with a sentence."""
    refused = mission("mission", *arguments)
    assert refused.exit_code == code
    assert said in refused.stderr


def test_a_failed_mission_is_said_with_1(mission: Run) -> None:
    """`evaluate` ends with 1 where the mission has failed, or waits for a person."""
    assert mission("mission", "evaluate", "m1").exit_code == 0
    assert mission("mission", "fail", "m1", *ADA).exit_code == 0
    assert mission("mission", "evaluate", "m1").exit_code == 1


def test_a_mission_that_nobody_could_judge_is_not_made(run: Run, folder: Path) -> None:
    """Made by hand it has no success check: its kind must have a judge."""
    (folder / "policy.yaml").write_text("version: 1\nmissions: {books: {evaluate_every: 1}}\n")
    assert run("decide", "-", "--policy", "policy.yaml", text="").exit_code == 0
    made = run("mission", "create", "--kind", "books", "--objective", "Close them.")
    assert made.exit_code == 2
    assert "add a judge to the kind" in made.stderr


def test_what_did_nothing_says_so(mission: Run) -> None:
    """Nothing to judge is said; raised limits alone let no suspended mission go on."""
    assert "nothing was evaluated" in mission("mission", "evaluate", "m1").stdout
    assert mission("mission", "extend", "m1", "--hours", "1", *ADA).stdout.count("\n") == 1
    assert mission("mission", "suspend", "m1", *ADA).exit_code == 0
    raised = mission("mission", "extend", "m1", "--hours", "1", *ADA).stdout
    assert "still suspended: sureline mission resume m1" in raised
