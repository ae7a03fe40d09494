"""`sureline ledger`: what was recorded can be proven, handed out and erased."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal


@pytest.fixture
def recorded(started: Run) -> Run:
    """Return `run` in a folder with three decisions, one of them labelled."""
    lines = [proposal(id=name, task=f"Read number {name}") for name in ("d1", "d2", "d3")]
    started("decide", text="\n".join(lines))
    started("outcome", "d1", "--action", "approve", "--by", "Ada", "--comment", "fine")
    return started


def test_an_untouched_ledger_holds(recorded: Run) -> None:
    """Verifying says how many rows there are, the head, and what it cannot see."""
    found = json.loads(recorded("ledger", "verify", "--json").stdout)
    assert found["ok"] is True
    assert found["rows"] >= 5
    assert found["cannot_see"]
    assert recorded("ledger", "verify", "--head", found["head"]).exit_code == 0


def test_a_changed_row_is_found(recorded: Run, folder: Path) -> None:
    """Whoever changes a row behind sureline's back is noticed, and the exit code is 1."""
    database = sqlite3.connect(folder / "sureline.db")
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        database.execute(f'DROP TRIGGER "{name}"')
    database.execute("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd2'")
    database.commit()
    database.close()
    result = recorded("ledger", "verify")
    assert result.exit_code == 1
    assert "does not hold" in result.stdout


TAMPERED = "UPDATE label_counts SET count = count + 5000"


def test_counts_that_do_not_follow_are_named_and_put_right(recorded: Run, folder: Path) -> None:
    """Certificates rest on the counts: changing them is noticed, named and undone on record."""
    with sqlite3.connect(folder / "sureline.db") as database:
        assert database.execute(TAMPERED).rowcount == 1
    result = recorded("ledger", "verify")
    assert result.exit_code == 1
    assert "label_counts: not as the ledger says in 1 row" in result.stdout
    assert "5001 is stored, 1 by the ledger" in result.stdout
    found = json.loads(recorded("ledger", "verify", "--json").stdout)
    assert (found["ok"], found["chain_ok"]) == (False, True)
    assert [one["table"] for one in found["derived"] if not one["ok"]] == ["label_counts"]
    rebuilt = recorded("ledger", "rebuild", "--by", "Ada")
    assert rebuilt.exit_code == 0
    assert "put right: label_counts" in rebuilt.stdout
    assert recorded("ledger", "verify").exit_code == 0
    assert "nothing was changed" in recorded("ledger", "rebuild", "--by", "Ada").stdout
    (entry,) = [
        one
        for one in json.loads(recorded("logbook", "--json").stdout)["entries"]
        if one["change"] == "rebuild"
    ]
    assert (entry["by"], entry["subject"]) == ("Ada", "label_counts")


def test_nothing_is_rebuilt_from_a_ledger_that_does_not_hold(recorded: Run, folder: Path) -> None:
    """What was changed itself is no source; then the tables are not compared either."""
    with sqlite3.connect(folder / "sureline.db") as database:
        database.execute("DROP TRIGGER outcomes_no_update")
        database.execute("UPDATE outcomes SET correct = 0")
    result = recorded("ledger", "rebuild", "--by", "Ada")
    assert result.exit_code == 1
    assert "nothing was rebuilt" in result.stderr
    verified = recorded("ledger", "verify")
    assert verified.exit_code == 1
    assert "cannot see: labels and counts" in verified.stdout


def test_what_verifying_cannot_see_is_said(recorded: Run, folder: Path) -> None:
    """Of a store and of an export: what is outside the chain, and what an export leaves out."""
    told = recorded("ledger", "verify").stdout
    assert "which approvals were used or called back" in told
    assert "tables that certificates rest on" not in told
    (folder / "out.jsonl").write_text(recorded("ledger", "export").stdout)
    told = recorded("ledger", "verify", "out.jsonl").stdout
    assert "which approvals were used or called back" in told
    assert "tables that certificates rest on" in told


def test_another_head_is_noticed(recorded: Run) -> None:
    """A head that the chain never ran through says that history was rewritten."""
    assert recorded("ledger", "verify", "--head", f"2:{'ab' * 32}").exit_code == 1
    assert recorded("ledger", "verify", "--head", "nonsense").exit_code == 2


@pytest.mark.parametrize("payloads", [True, False], ids=["with payloads", "without"])
def test_an_export_verifies_without_the_store(payloads: bool, recorded: Run, folder: Path) -> None:
    """An export is complete; payloads are in it only when asked for."""
    flag = "--payloads" if payloads else "--no-payloads"
    exported = recorded("ledger", "export", flag).stdout
    assert ("Harbour Paper" in exported) == payloads
    (folder / "out.jsonl").write_text(exported)
    (folder / "sureline.db").unlink()
    assert recorded("ledger", "verify", "out.jsonl").exit_code == 0


def test_a_changed_export_is_found(recorded: Run, folder: Path) -> None:
    """Leaving out a line is noticed, and so is what is no export; no file is bad input."""
    lines = recorded("ledger", "export").stdout.splitlines(keepends=True)
    (folder / "less.jsonl").write_text("".join(lines[:2] + lines[3:]))
    assert recorded("ledger", "verify", "less.jsonl").exit_code == 1
    (folder / "none.jsonl").write_text("hello\n")
    assert recorded("ledger", "verify", "none.jsonl").exit_code == 2
    assert recorded("ledger", "verify", "nowhere.jsonl").exit_code == 2


def test_a_packed_export_is_read_too(recorded: Run, folder: Path) -> None:
    """With gzip; one that is cut off or damaged is named, and so is what is not UTF-8."""
    data = gzip.compress(recorded("ledger", "export").stdout.encode())
    (folder / "out.jsonl.gz").write_bytes(data)
    assert recorded("ledger", "verify", "out.jsonl.gz").exit_code == 0
    for bad in (data[:-20], data[:40] + b"xxxx" + data[44:], b"{}\n\xff\n"):
        (folder / "bad").write_bytes(bad)
        told = recorded("ledger", "verify", "bad")
        assert told.exit_code in {1, 2}
        assert "Traceback" not in told.output
    assert "bad: damaged, or cut off" in _verified_bad(recorded, folder, data[:-20])


def _verified_bad(run: Run, folder: Path, data: bytes) -> str:
    (folder / "bad").write_bytes(data)
    return run("ledger", "verify", "bad").stderr


def test_erasing_keeps_the_chain(recorded: Run, folder: Path) -> None:
    """What was erased is nowhere in the export, the ledger verifies, and it is said how much."""
    erase = ("ledger", "erase", "d1", "--reason", "Asked for", "--by", "Ada")
    assert recorded(*erase).stdout == "d1: erased\n"
    assert "nothing left" in recorded(*erase).stdout
    exported = recorded("ledger", "export", "--payloads").stdout
    assert "Read number d1" not in exported
    assert "Read number d2" in exported
    found = json.loads(recorded("ledger", "verify", "--json").stdout)
    assert found["ok"] is True
    assert found["erased"] >= 1


def test_erasing_what_is_not_there_is_said(recorded: Run) -> None:
    """An unknown decision is bad input."""
    assert recorded("ledger", "erase", "d9", "--reason", "x", "--by", "A").exit_code == 2
    assert recorded("ledger", "erase", "d1", "--reason", " ", "--by", "A").exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        ("ledger", "verify"),
        ("switch", "on", "--reason", "incident", "--by", "ada"),
        ("switch", "status"),
        ("recalibrate",),
        ("keys", "list"),
        ("policy", "list"),
    ],
    ids=" ".join,
)
def test_a_store_that_is_not_there_is_an_error_not_a_new_store(
    command: tuple[str, ...], run: Run, folder: Path
) -> None:
    """A switch turned in a store made by a typing error would turn nothing."""
    result = run(*command, "--store", "sqlite:///typo.db")
    assert result.exit_code == 3
    assert "no store" in result.output
    assert not (folder / "typo.db").exists()
