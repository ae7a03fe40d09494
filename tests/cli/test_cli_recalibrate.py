"""`sureline recalibrate`: from labels to certificates, which a person activates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal
from tests.cli.test_cli_import import imported, row, write


@pytest.fixture
def labelled(started: Run, folder: Path) -> Run:
    """Return `run` in a folder with 200 labelled outputs, one in ten of them wrong."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 300)])
    imported(started)
    return started


def test_without_labels_it_says_what_is_missing(started: Run) -> None:
    """No certificate is a result, not a failure."""
    result = started("recalibrate")
    assert result.exit_code == 0
    assert "insufficient_data" in result.stdout
    assert "Reliability" not in result.stdout  # a table without rows tells nothing


def test_a_certificate_is_proposed_with_its_reliability(labelled: Run) -> None:
    """Both tables are printed, and nothing has changed."""
    result = labelled("recalibrate")
    assert result.exit_code == 0
    assert "proven precision" in result.stdout
    assert "Reliability" in result.stdout
    assert "nothing has changed" in result.stdout
    decided = json.loads(labelled("decide", text=proposal()).stdout)
    assert decided["certificate"] is None


def test_labels_that_do_not_count_are_told(labelled: Run, folder: Path) -> None:
    """A label of an output that no threshold could have automated is given, but not counted."""
    assert "labels not counted" not in labelled("recalibrate").stdout
    write(folder / "log.jsonl", [row(300, answer="no object", right=False)])
    imported(labelled)
    result = labelled("recalibrate")
    assert "200 / 201" in result.stdout
    assert "labels not counted are of outputs that no threshold" in result.stdout
    assert json.loads(labelled("recalibrate", "--json").stdout)["given"] == {"invoices": 201}


def test_activating_needs_a_name(labelled: Run) -> None:
    """Nobody activates anonymously."""
    result = labelled("recalibrate", "--activate")
    assert result.exit_code == 2
    assert "--by" in result.stderr


def test_an_active_certificate_holds_at_the_next_decision(labelled: Run) -> None:
    """After activation, decisions name the certificate and its threshold."""
    found = json.loads(labelled("recalibrate", "--activate", "--by", "Ada", "--json").stdout)
    assert found["activated"] is True
    (certificate,) = found["certificates"]
    decided = json.loads(labelled("decide", text=proposal()).stdout)
    assert decided["certificate"] == certificate["id"]
    assert decided["threshold"] == certificate["threshold"]


def test_the_same_labels_are_the_same_calibration(labelled: Run) -> None:
    """Recalibrating twice gives the same id: it is named by what it rests on."""
    first = json.loads(labelled("recalibrate", "--json").stdout)
    second = json.loads(labelled("recalibrate", "--json").stdout)
    assert first["id"] == second["id"]
