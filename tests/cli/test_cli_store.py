"""`sureline store`: copy and upgrade."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from sureline.adapters.storage.tables import SCHEMA_REVISION
from tests.adapters.storage.older_stores import older_store
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
    assert not Path("none.db").exists()


def test_upgrading_makes_the_first_tables(run: Run, postgres: Postgres) -> None:
    """An empty database becomes a store, whichever way it is named; two names are refused."""
    url = postgres.database(empty=True)
    made = run("store", "upgrade", "--store", url)
    assert f"made a new store, schema {SCHEMA_REVISION}" in made.output
    assert "nothing to do" in run("store", "upgrade", url).output
    assert run("store", "upgrade", url, "--store", "sqlite:///other.db").exit_code == 2


def test_an_older_file_is_upgraded_by_who_writes_and_that_is_said(run: Run, tmp_path: Path) -> None:
    """Who only looks is told what to do; the second to write hears nothing of it."""
    asyncio.run(older_store("sqlite:///older.db", "0003")).close()
    looked = run("ledger", "verify", "--store", "sqlite:///older.db")
    assert (looked.exit_code, "has schema 0003, this sureline needs" in looked.output) == (3, True)
    key = ("keys", "create", "--name", "kim", "--role", "admin", "--store", "sqlite:///older.db")
    assert "had schema 0003: upgraded" in run(*key).output
    assert "upgraded" not in run(*key).output
