"""Run the command line in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sureline.adapters.storage.store import open_store
from sureline.cli.app import app
from tests.disks import tiny_disk as tiny_disk

GOOD = {
    "slice_key": "invoices",
    "task": "Extract vendor, date and total from this invoice",
    "source": "INVOICE\nHarbour Paper Ltd\n14/01/2026\nTotal due: £1,240.50",
    "output": {"vendor": "Harbour Paper Ltd", "date": "2026-01-14", "total": 1240.5},
}

Run = Callable[..., Result]


def proposal(**changes: Any) -> str:
    """Write the good proposal, changed, as a line."""
    return json.dumps({**GOOD, **changes})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no setting of this machine."""
    monkeypatch.chdir(tmp_path)
    for name in ("SURELINE_STORE", "SURELINE_FORCE_HUMAN", "SURELINE_SWITCH_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Return a function that runs `sureline` with arguments and optional standard input."""
    runner = CliRunner()

    def _run(*arguments: str, text: str | bytes | None = None) -> Result:
        result = runner.invoke(app, list(arguments), input=text)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return _run


@pytest.fixture
def empty_store(folder: Path) -> None:
    """Make the store that commands find by default, with nothing in it."""
    open_store("sqlite:///sureline.db").close()


@pytest.fixture
def started(run: Run) -> Run:
    """Return `run` in a folder where `init` was run and the policy is current."""
    assert run("init", ".").exit_code == 0
    assert run("decide", "-", "--policy", "policy.yaml", text="").exit_code == 0
    return run
