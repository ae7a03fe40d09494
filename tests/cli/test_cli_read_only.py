"""Whoever may only read a store can check and look at all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

STORE = ("--store", "sqlite:///sureline.db")


@pytest.fixture
def read_only(started: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return `run` in a folder whose store has a decision and cannot be written."""
    started("decide", text=proposal(id="d1"))
    started("outcome", "d1", "--action", "approve", "--by", "Ada")
    usual = os.access

    def access(path: str | Path, mode: int) -> bool:
        return not (mode & os.W_OK and Path(path).name == "sureline.db") and usual(path, mode)

    monkeypatch.setattr(os, "access", access)  # root may write everything
    return started


@pytest.mark.parametrize(
    "command",
    [
        ("ledger", "verify"),
        ("ledger", "export"),
        ("switch", "status"),
        ("policy", "list"),
        ("policy", "show"),
        ("logbook",),
        ("report",),
        ("audit", "list"),
        ("calibration", "list"),
        ("keys", "list"),
        ("jobs", "list"),
        ("simulate",),
    ],
    ids=" ".join,
)
def test_reading_works_and_leaves_the_folder_alone(
    command: tuple[str, ...], read_only: Run, folder: Path
) -> None:
    """An auditor looks at a copy without the right to write."""
    before = (folder / "sureline.db").read_bytes()
    files = sorted(folder.iterdir())
    result = read_only(*command, *STORE)
    assert result.exit_code == 0, result.output
    assert sorted(folder.iterdir()) == files
    assert (folder / "sureline.db").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("decide",),
        ("outcome", "d1", "--action", "approve", "--by", "Ada"),
        ("switch", "on", "--reason", "x", "--by", "Ada"),
        ("policy", "activate", "policy.yaml", "--by", "Ada"),
        ("ledger", "erase", "d1", "--reason", "x", "--by", "Ada"),
        ("recalibrate",),
        ("keys", "create", "--name", "a", "--role", "admin"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_writing_is_refused(command: tuple[str, ...], read_only: Run) -> None:
    """The message says what is to be made writable."""
    result = read_only(*command, *STORE, text=proposal())
    assert result.exit_code == 3
    assert "sureline.db is read-only; make the file writable" in result.stderr
