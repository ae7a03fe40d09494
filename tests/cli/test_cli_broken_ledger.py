"""A ledger that does not hold is never signed, packed or verified without a word."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

pytestmark = pytest.mark.sqlite_file
PERIOD = ("--from", "2020-01-01", "--to", "2100-01-01")


@pytest.fixture
def stated(started: Run) -> Run:
    """Return `run` in a folder with a key and two decisions."""
    started("decide", text="\n".join([proposal(id="d1"), proposal(id="d2", task="Another")]))
    assert started("ledger", "keygen", "key").exit_code == 0
    return started


def _break(folder: Path) -> None:
    """Change a decision behind the back of the ledger."""
    database = sqlite3.connect(folder / "sureline.db")
    triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for (name,) in triggers:
        database.execute(f"DROP TRIGGER {name}")
    database.execute("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd2'")
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("ledger", "head", "--sign", "key", "--out", "h"), id="head"),
        pytest.param(("ledger", "head", "--sign", "key", "--json"), id="head as JSON"),
        pytest.param(("ledger", "evidence", *PERIOD, "--sign", "key", "--out", "p"), id="evidence"),
        pytest.param(("jobs", "run", "verify"), id="verify"),
        pytest.param(("jobs", "run", "verify", "--json"), id="verify as JSON"),
    ],
)
@pytest.mark.parametrize("is_broken", [False, True], ids=["holds", "broken"])
def test_whoever_states_it_says_that_it_does_not_hold(
    words: tuple[str, ...], is_broken: bool, stated: Run, folder: Path
) -> None:
    """On the terminal and by the exit code; what is stated is stated all the same."""
    if is_broken:
        _break(folder)
    told = stated(*words)
    assert (told.exit_code, "DOES NOT HOLD" in told.output) == (int(is_broken), is_broken)
    if "--out" in words:
        assert (folder / words[-1]).exists()


def test_a_head_says_what_was_not_verified_again(stated: Run, folder: Path) -> None:
    """What held once is not read again for each head; a break that was seen is told of."""
    assert "the ledger holds: " in stated("ledger", "head").stderr
    assert stated("jobs", "run", "verify").exit_code == 0
    stated("decide", text=proposal(id="d3", task="Third"))
    told = stated("ledger", "head")
    assert (told.exit_code, "NOT verified again" in told.stderr) == (0, True)
    _break(folder)
    assert json.loads(stated("jobs", "run", "verify", "--json").stdout)["ok"] is False
    told = stated("ledger", "head")
    assert (told.exit_code, "(seen 20" in told.stderr) == (1, True)
