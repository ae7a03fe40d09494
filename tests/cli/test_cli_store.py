"""`sureline store`: copy and upgrade."""

from __future__ import annotations

import json
from pathlib import Path

from sureline.adapters.storage.tables import SCHEMA_REVISION
from tests.cli.conftest import Run, proposal
from tests.postgres import Postgres
from tests.postgres import postgres as postgres


def test_a_laptop_s_file_moves_to_postgres(started: Run, postgres: Postgres) -> None:
    """After the copy, commands find there what was decided here."""
    run = started
    made = run("decide", text=proposal() + "\n")
    decision = json.loads(made.stdout.splitlines()[0])
    target = postgres.database()
    copied = run("store", "copy", "sqlite:///sureline.db", target)
    assert copied.exit_code == 0, copied.output
    assert "verified: chain, rows, labels and counts are the same" in copied.output
    verified = run("ledger", "verify", "--store", target, "--json")
    assert json.loads(verified.stdout)["ok"] is True
    label = run("outcome", decision["id"], "--action", "approve", "--by", "kim", "--store", target)
    assert label.exit_code == 0, label.output
    again = run("store", "copy", "sqlite:///sureline.db", target, "--json")
    assert again.exit_code == 1
    assert "not empty" in again.output


def test_bad_addresses_are_refused(run: Run, empty_store: None) -> None:
    """One store twice, a store that is not there."""
    here = "sqlite:///sureline.db"
    twice = run("store", "copy", here, here)
    assert (twice.exit_code, "two different stores" in twice.output) == (2, True)
    missing = run("store", "copy", "sqlite:///none.db", "sqlite:///other.db")
    assert (missing.exit_code, "there is no store" in missing.output) == (3, True)
    assert not Path("none.db").exists()


def test_upgrading_says_what_was_upgraded(run: Run, empty_store: None) -> None:
    """A store of this version is left as it is; one that is not there is not made."""
    done = run("store", "upgrade", "sqlite:///sureline.db", "--json")
    assert json.loads(done.stdout) == {
        "store": "sureline.db",
        "before": SCHEMA_REVISION,
        "after": SCHEMA_REVISION,
        "upgraded": False,
    }
    shown = run("store", "upgrade", "sqlite:///sureline.db").stdout
    assert "sureline.db has this version's tables" in shown
    assert "nothing to do" in shown
    assert run("store", "upgrade", "sqlite:///none.db").exit_code == 3
