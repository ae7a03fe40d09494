"""On a terminal: tables, colours and one line a decision; none of that in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

COMMAND = [sys.executable, "-m", "sureline"]


def on_terminal(*arguments: str, folder: Path) -> tuple[int, str]:
    """Run a command whose output and errors go to a terminal; return its code and what it drew."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        drawn = b""
        while chunk := _read(ours):
            drawn += chunk
        os.close(ours)
    return process.returncode, drawn.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how a terminal says that the other side is gone
        return b""


def test_a_decision_is_one_line_for_a_person(started: Run, folder: Path) -> None:
    """On a terminal `decide` shows route, value, id and reason codes."""
    (folder / "one.jsonl").write_text(proposal(id="d1") + "\n{\n")
    code, drawn = on_terminal("decide", "one.jsonl", folder=folder)
    assert code == 2
    assert "human_review" in drawn
    assert "d1" in drawn
    assert "line 2: " in drawn
    assert "{" not in drawn


def test_tables_are_drawn(started: Run, folder: Path) -> None:
    """On a terminal a table has a frame; in a pipe it has none."""
    started("keys", "create", "--name", "[red]agent", "--role", "agent")
    _, drawn = on_terminal("keys", "list", folder=folder)
    assert "│" in drawn
    assert "[red]agent" in drawn  # a name is never markup
    assert "│" not in started("keys", "list").stdout


@pytest.mark.usefixtures("empty_store")
def test_an_error_is_red(folder: Path) -> None:
    """On a terminal the error is red, and still one line."""
    code, drawn = on_terminal("ledger", "erase", "x", "--by", "A", "--reason", "b", folder=folder)
    assert code == 2
    assert "\x1b[31merror: there is no decision" in drawn


@pytest.mark.parametrize("name", ["import"])
def test_progress_is_drawn_on_a_terminal_only(name: str, started: Run, folder: Path) -> None:
    """Long work shows a bar on a terminal, and nothing of it in a pipe."""
    (folder / "log.csv").write_text("out\n" + "hello\n" * 30)
    arguments = (name, "log.csv", "--map", "output=out", "--task", "t", "--slice", "invoices")
    _, drawn = on_terminal(*arguments, folder=folder)
    assert "importing log.csv" in drawn
    assert "importing" not in started(*arguments).stderr
