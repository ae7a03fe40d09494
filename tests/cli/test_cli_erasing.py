"""`sureline ledger erase --subject` and `sureline ledger retention`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

ASKED = ("--by", "Ada", "--reason", "Asked for")


@pytest.fixture
def recorded(started: Run) -> Run:
    """Return `run` in a folder with three decisions, two of them about one person."""
    about = {"d1": {"subject": "p-1"}, "d2": {"subject": "p-1"}, "d3": {}}
    lines = [proposal(id=name, task=f"Read number {name}", **more) for name, more in about.items()]
    started("decide", text="\n".join(lines))
    return started


def test_all_about_a_subject_goes(recorded: Run) -> None:
    """Two decisions are erased, the third stays, the chain holds, and a second run finds none."""
    said = recorded("ledger", "erase", "--subject", "p-1", *ASKED)
    assert "erased what 2 decisions quoted" in said.stdout
    assert "nothing left" in recorded("ledger", "erase", "--subject", "p-1", *ASKED).stdout
    exported = recorded("ledger", "export", "--payloads").stdout
    assert "p-1" not in exported
    assert "Read number d3" in exported
    assert json.loads(recorded("ledger", "verify", "--json").stdout)["ok"] is True


def test_for_programs_it_says_the_figures(recorded: Run) -> None:
    """With --json the figures, and nothing else."""
    said = recorded("ledger", "erase", "--subject", "p-1", *ASKED, "--json")
    assert json.loads(said.stdout) == {"erased": 2, "left": 0, "views": 0, "late": 0}


@pytest.mark.parametrize(
    "given",
    [
        ("d1", "--subject", "p-1", *ASKED),
        ASKED,
        ("--subject", "", *ASKED),
        ("--subject", "p-1", "--by", "Ada", "--reason", "p-1 asked"),
    ],
    ids=["both", "neither", "empty", "named in the reason"],
)
def test_what_is_not_clear_is_refused(recorded: Run, given: tuple[str, ...]) -> None:
    """One of the two, and no name where it would stay."""
    assert recorded("ledger", "erase", *given).exit_code == 2
    assert "p-1" in recorded("ledger", "export", "--payloads").stdout


def test_retention_says_what_it_would_erase(recorded: Run, folder: Path) -> None:
    """Without a time limit nothing goes; with one a dry run names the slice and changes nothing."""
    assert "keeps everything" in recorded("ledger", "retention").stdout
    policy = (folder / "policy.yaml").read_text("utf-8")
    limited = policy.replace("defaults:\n", "defaults:\n  retention: {payload_days: 1}\n", 1)
    (folder / "limited.yaml").write_text(limited, "utf-8")
    assert recorded("policy", "activate", "limited.yaml", "--by", "Ada").exit_code == 0
    for extra in (("--dry-run",), ()):
        said = recorded("ledger", "retention", *extra)
        assert "kept for (days)" in said.stdout
        assert "0 payloads" in said.stdout
    found = json.loads(recorded("ledger", "retention", "--dry-run", "--json").stdout)
    assert found["dry_run"] is True
    assert found["slices"][0]["payload_days"] == 1
