"""`sureline store backup`, `drill` and `restored`: from a backup back to work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

pytestmark = pytest.mark.sqlite_file
RESTORED = "sqlite:///restored.db"


@pytest.fixture
def lost(started: Run, folder: Path) -> Run:
    """Return `run` where a backup is older than the last decision, an erasure and a head."""
    started("decide", text="\n".join([proposal(id="d1"), proposal(id="d2", task="Second")]))
    started("outcome", "d1", "--action", "approve", "--by", "Ada")
    assert started("store", "backup", "backup.db").exit_code == 0
    started("decide", text=proposal(id="d3", task="Third"))
    started("ledger", "erase", "d2", "--reason", "Asked for", "--by", "Ada")
    started("ledger", "erase", "d3", "--reason", "Asked for", "--by", "Ada")
    started("ledger", "keygen", "key")
    started("ledger", "head", "--sign", "key", "--out", "head.json")
    (folder / "erasures.json").write_text(started("ledger", "erasures", "--json").stdout)
    return started


def test_a_backup_says_what_it_has(started: Run, folder: Path) -> None:
    """Rows, size and head; a second one under the same name is refused."""
    made = json.loads(started("store", "backup", "b.db", "--json").stdout)
    assert (made["ok"], made["size"]) == (True, (folder / "b.db").stat().st_size)
    assert made["head"] == json.loads(started("ledger", "verify", "--json").stdout)["head"]
    again = started("store", "backup", "b.db")
    assert (again.exit_code, "never overwritten" in again.stderr) == (1, True)
    missing = started("store", "backup", "c.db", "--store", "sqlite:///none.db")
    assert (missing.exit_code, (folder / "c.db").exists()) == (3, False)


def test_the_drill_says_how_old_a_backup_is_and_what_it_lacks(lost: Run, folder: Path) -> None:
    """By a signed head; a backup whose rows contradict the head cannot be relied on."""
    told = lost("store", "drill", "backup.db", "--head", "head.json", "--public-key", "key.pub")
    assert told.exit_code == 0, told.output
    assert "written after it, by the head: 3 rows" in told.stdout
    assert "0 minutes ago" in told.stdout
    found = json.loads(lost("store", "drill", "backup.db", "--json").stdout)
    assert (found["ok"], found["missing"], found["age_seconds"] < 60) == (True, None, True)
    head = json.loads((folder / "head.json").read_text())
    wrong = {**head, "rows": 2, "heads": {"common": f"2:{'ab' * 32}"}}
    del wrong["signature"]
    (folder / "wrong.json").write_text(json.dumps(wrong))
    told = lost("store", "drill", "backup.db", "--head", "wrong.json")
    assert (told.exit_code, "do NOT rely on it" in told.stdout) == (1, True)
    (folder / "other.json").write_text(json.dumps({**wrong, "store": "f" * 32}))
    told = lost("store", "drill", "backup.db", "--head", "other.json")
    assert (told.exit_code, "other.json: store: " in told.stderr) == (2, True)


def test_a_restored_store_forgets_again_and_waits_for_a_person(lost: Run, folder: Path) -> None:
    """What was erased after the backup is gone again, on record; automation waits for a person."""
    shutil.copyfile(folder / "backup.db", folder / "restored.db")
    at = ("--store", RESTORED)
    mark = ("store", "restored", *at, "--by", "Ada", "--reason", "the disk died")
    done = json.loads(lost(*mark, "--erasures", "erasures.json", "--json").stdout)
    assert done == {"voided": 1, "erased": 1, "erased_before": 0, "unknown": 1}
    exported = lost("ledger", "export", "--payloads", *at).stdout
    assert ("Second" in exported, "again after a restore: Asked for" in exported) == (False, True)
    entries = json.loads(lost("logbook", "--json", *at).stdout)["entries"]
    assert [one["change"] for one in entries][-3:] == ["restored", "switch on", "erasure"]
    assert "restored from a backup: the disk died" in lost("switch", "status", *at).stdout
    assert lost("ledger", "verify", *at).exit_code == 0
    again = lost(*mark, "--erasures", "erasures.json").stdout
    assert "0 payloads erased again; 1 were erased before, 1 are of decisions" in again


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not a list of"),
        ('{"erasures": 1}', "not a list of"),
        ('{"erasures": [{"workspace": "a"}]}', "erasures[0]: not an erasure"),
        ("{", "not a list of"),
    ],
)
def test_a_bad_list_of_erasures_is_named(text: str, message: str, lost: Run, folder: Path) -> None:
    """It is bad input before anything is changed."""
    (folder / "bad.json").write_text(text)
    mark = ("store", "restored", "--by", "Ada", "--reason", "x", "--erasures")
    told = lost(*mark, "bad.json")
    assert (told.exit_code, message in told.stderr) == (2, True)
    assert lost(*mark, "none.json").exit_code == 2
    assert "restored" not in lost("logbook").stdout


def test_restoring_needs_a_name_and_a_reason(lost: Run) -> None:
    """Nobody, and no reason, are bad input."""
    assert lost("store", "restored", "--by", " ", "--reason", "x").exit_code == 2
    assert lost("store", "restored", "--by", "Ada", "--reason", " ").exit_code == 2


def test_erasures_are_listed(lost: Run) -> None:
    """As a table for people; a store without any says so."""
    assert lost("ledger", "erasures").stdout.count("Asked for") == 2
    assert lost("ledger", "erasures", "--store", "sqlite:///backup.db").stdout == (
        "nothing was erased\n"
    )


def test_a_damaged_backup_is_named_as_the_operator_knows_it(lost: Run, folder: Path) -> None:
    """Not the copy that was tried; and the advice is another backup, not this one again."""
    data = bytearray((folder / "backup.db").read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 2048] = b"\xff" * 2048
    (folder / "backup.db").write_bytes(data)
    told = lost("store", "drill", "backup.db")
    assert told.exit_code == 1, told.output
    assert "backup.db is damaged" in told.stderr
    assert "try an older backup" in told.stderr
    assert "restored.db" not in told.output
