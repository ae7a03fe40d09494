"""`sureline simulate`: recorded decisions under other rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, proposal
from tests.cli.test_cli_import import MAPS, imported, row, write


@pytest.fixture
def labelled(started: Run, folder: Path) -> Run:
    """Return `run` in a folder with 200 labelled outputs, one in ten of them wrong."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 300)])
    imported(started)
    return started


def tried(run: Run, *arguments: str) -> dict[str, Any]:
    result = run("simulate", "--json", *arguments)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["slices"]
    return found  # type: ignore[no-any-return]


CHECKS = ("--weight", "verification=1")


def test_a_threshold_is_tried_without_being_activated(labelled: Run) -> None:
    """The wrong tenth fails a check, so automating full scores is right every time."""
    found = tried(labelled, "--threshold", "0.99", *CHECKS)
    assert (found["before"]["automated"], found["after"]["automated"]) == (0, 180)
    assert found["after"]["precision"]["estimate"] == 1.0
    assert found["after"]["precision"]["labels"] == 180
    assert (found["before"]["reviews"], found["after"]["reviews"]) == (200, 20 + audits(found))
    assert found["after"]["minutes"] == found["after"]["reviews"] / 2
    assert found["log_only"] is True
    assert json.loads(labelled("recalibrate", "--json").stdout)["activated"] is False


def audits(found: dict[str, Any]) -> int:
    to_people = sum(
        count for route, count in found["after"]["routes"].items() if not route.startswith("auto")
    )
    return int(found["after"]["reviews"]) - to_people


def test_without_a_threshold_the_labels_certify_one(labelled: Run) -> None:
    """A change of weights starts with what the labels prove about the new scores."""
    found = tried(labelled, *CHECKS)
    assert found["threshold_from"] == "labels"
    assert 0.9 < found["threshold"] <= 1.0
    assert 0.95 <= found["proven"] < 1.0
    assert found["after"]["automated"] == 180


def test_an_active_certificate_is_what_holds(labelled: Run, folder: Path) -> None:
    """Replaying through the active maps and certificate is what the gate now does."""
    write(folder / "more.jsonl", [row(n) for n in range(300, 900)])
    done = labelled("import", "more.jsonl", *MAPS, "--labelled", "all")
    assert done.exit_code == 0, done.output
    activated = labelled("recalibrate", "--activate", "--by", "Ada", "--json")
    (certificate,) = json.loads(activated.stdout)["certificates"]
    found = tried(labelled)
    assert found["threshold_from"] == "certificate"
    assert found["threshold"] == certificate["threshold"]
    assert found["proven"] == certificate["lower_bound"]
    policy = (folder / "policy.yaml").read_text("utf-8").replace("mode: log_only", "mode: route")
    (folder / "policy.yaml").write_text(policy, "utf-8")
    assert labelled("policy", "activate", "policy.yaml", "--by", "Ada").exit_code == 0
    labelled("decide", text=proposal())
    again = tried(labelled)
    assert again["after"]["automated"] == found["after"]["automated"] + 1
    assert again["before"]["automated"] == 1


def test_a_target_that_labels_cannot_prove_automates_nothing(labelled: Run, folder: Path) -> None:
    """The policy file is tried without being stored; what is missing is said."""
    text = (folder / "policy.yaml").read_text("utf-8")
    stricter = text.replace("target_precision: 0.95", "target_precision: 0.995")
    (folder / "strict.yaml").write_text(stricter, "utf-8")
    result = labelled("simulate", "--policy", "strict.yaml", *CHECKS)
    assert "nothing would be automated" in result.stdout
    assert "more labels" in result.stdout
    assert len(json.loads(labelled("policy", "list", "--json").stdout)["policies"]) == 1


def test_what_cannot_be_measured_again_is_said(labelled: Run, folder: Path) -> None:
    """Other checks: recorded values are used, and the note says for how many."""
    text = (folder / "policy.yaml").read_text("utf-8")
    (folder / "other.yaml").write_text(text.replace("50000", "20000"), "utf-8")
    result = labelled("simulate", "--policy", "other.yaml", "--threshold", "0.9", *CHECKS)
    assert "verification: settings differ for 200 decisions" in result.stderr
    found = tried(labelled, "--policy", "other.yaml", "--threshold", "0.9", *CHECKS)
    assert found["not_measured_again"]["stale"] == {"verification": 200}


def test_a_signal_that_was_never_measured_sends_to_people(labelled: Run) -> None:
    """A weight on what is not there automates nothing (G15)."""
    found = tried(labelled, "--weight", "verification=1", "--weight", "luck=1", "--threshold", "0")
    assert found["after"]["automated"] == 0
    assert found["not_measured_again"]["absent"] == {"luck": 200}


def test_unlabelled_items_are_stated_with_their_bounds(started: Run, folder: Path) -> None:
    """Nobody looked at half of them: they are no labels, and the extremes say what that means."""
    rows = [row(n) for n in range(101, 201)]
    write(folder / "log.jsonl", rows[::2])
    imported(started)
    started("decide", text="".join(proposal(task=f"Read {n}") + "\n" for n in range(40)))
    result = started("simulate", "--threshold", "0.99", *CHECKS)
    assert "40 that would be automated have no label" in result.stdout
    found = tried(started, "--threshold", "0.99", *CHECKS)
    precision = found["after"]["precision"]
    assert (precision["items"], precision["labels"]) == (90, 50)
    assert precision["extremes"] == [pytest.approx(50 / 90), 1.0]
    assert found["after"]["unanswered"] == 40


def test_money_needs_a_wage(labelled: Run) -> None:
    """Minutes times the wage, from what people would still review."""
    found = tried(labelled, "--threshold", "0.99", *CHECKS, "--wage", "60")
    assert found["after"]["cost"] == pytest.approx(found["after"]["minutes"])
    assert tried(labelled)["after"]["cost"] is None


def test_older_decisions_can_be_left_out(labelled: Run) -> None:
    """Nothing was decided in the future."""
    result = labelled("simulate", "--since", "2999-01-01")
    assert "invoices: no decisions to replay" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--threshold", "1.5"), "threshold", id="threshold"),
        pytest.param(("--weight", "history"), "--weight", id="no-number"),
        pytest.param(("--weight", "history=-1"), "weights", id="negative"),
        pytest.param(("--weight", "history=nan"), "weights", id="nan"),
        pytest.param(("--slice", "letters"), "letters", id="slice"),
        pytest.param(("--policy", "nowhere.yaml"), "nowhere.yaml", id="file"),
    ],
)
def test_bad_input_is_refused(started: Run, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2 and the name of what is wrong."""
    result = started("simulate", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
