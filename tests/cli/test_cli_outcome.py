"""`sureline outcome`: answers become labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Run, proposal


@pytest.fixture
def decided(started: Run) -> Run:
    """Return `run` in a folder with one decision, `d1`."""
    started("decide", text=proposal(id="d1"))
    return started


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        pytest.param(["--action", "approve"], True, id="approve"),
        pytest.param(["--action", "reject"], False, id="reject"),
        pytest.param(["--action", "edit", "--edited", "total"], False, id="edit"),
        pytest.param(["--action", "skip"], None, id="skip"),
        pytest.param(["--action", "approve", "--source", "audit", "--blind"], True, id="audit"),
    ],
)
def test_what_counts_as_a_label(arguments: list[str], label: bool | None, decided: Run) -> None:
    """The answer says which label was recorded (G23)."""
    result = decided("outcome", "d1", *arguments, "--by", "Ada", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["correct"] is label


def test_an_own_id_makes_repeating_harmless(decided: Run) -> None:
    """The same id twice is one label; with another answer it is a conflict."""
    again = ("outcome", "d1", "--by", "Ada", "--id", "o1")
    assert decided(*again, "--action", "approve").exit_code == 0
    assert decided(*again, "--action", "approve").exit_code == 0
    other = decided(*again, "--action", "reject")
    assert other.exit_code == 2
    calibration: dict[str, Any] = json.loads(decided("recalibrate", "--json").stdout)
    assert calibration["reliability"]["invoices"]["n"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["none", "--action", "approve", "--by", "Ada"], id="no such decision"),
        pytest.param(["d1", "--action", "approve", "--by", " "], id="nobody"),
        pytest.param(
            ["d1", "--action", "approve", "--edited", "total", "--by", "Ada"], id="no edit"
        ),
    ],
)
def test_what_cannot_be_recorded_is_said(arguments: list[str], decided: Run) -> None:
    """Bad input exits with 2, and nothing counts as a label."""
    assert decided("outcome", *arguments).exit_code == 2
    calibration = json.loads(decided("recalibrate", "--json").stdout)
    assert calibration["reliability"]["invoices"]["n"] == 0
