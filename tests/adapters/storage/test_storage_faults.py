"""What goes wrong with files, disks and locks, and what the store says then."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.errors import (
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    SurelineError,
)
from tests.adapters.storage.nobody import as_nobody
from tests.adapters.storage.samples import outcome, record, switch


def _not_a_database(path: Path) -> None:
    path.write_text("Dear diary, " * 1000, encoding="utf-8")


def _another_programs(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()


def _damaged(path: Path) -> None:
    open_store(f"sqlite:///{path}").close()
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3996)
    path.write_bytes(data)


def _newer(path: Path) -> None:
    open_store(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()


def _no_version(path: Path) -> None:
    open_store(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE alembic_version")
    connection.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("prepare", "error", "words"),
    [
        (_not_a_database, StoreCorrupt, "is not a database"),
        (_another_programs, StoreCorrupt, "another program"),
        (_damaged, StoreCorrupt, "damaged"),
        (_newer, StoreTooNew, "9999"),
        (_no_version, StoreCorrupt, "version"),
        (_folder, StoreUnavailable, "folder"),
    ],
)
def test_a_file_that_is_no_usable_store_is_named_and_left_alone(
    path: Path, prepare: object, error: type[SurelineError], words: str
) -> None:
    """The message says which file and what is wrong; not a byte of it changes."""
    assert callable(prepare)
    prepare(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(error, match=words) as raised:
        open_store(f"sqlite:///{path}")
    assert str(path) in raised.value.message
    assert before is None or path.read_bytes() == before


def test_a_missing_folder_is_named(path: Path) -> None:
    """The store does not make folders up."""
    with pytest.raises(StoreUnavailable, match="does not exist"):
        open_store(f"sqlite:///{path.parent / 'no' / 'store.db'}")


@pytest.mark.parametrize(
    "url", ["", "store.db", "mysql://x/y", "sqlite:/x.db", "sqlite://x.db", "sqlite:///"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """Only the documented forms are taken for a store."""
    with pytest.raises(InvalidInput, match="sqlite:///"):
        open_store(url)


def test_a_relative_path_is_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three slashes start in the working folder."""
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///here.db").close()
    assert (tmp_path / "here.db").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root to become nobody")
@pytest.mark.parametrize("mode", [0o755, 0o777], ids=["folder", "file"])
def test_what_cannot_be_written_is_said_to_be_read_only(public_folder: Path, mode: int) -> None:
    """A user without the right to write learns whether the file or the folder is the reason."""
    path = public_folder / "store.db"
    open_store(f"sqlite:///{path}").close()
    path.chmod(0o644 if mode == 0o777 else 0o666)
    public_folder.chmod(mode)
    said = as_nobody(lambda: open_store(f"sqlite:///{path}").url)
    assert said.startswith("StoreReadOnly")
    assert str(path) in said
    assert ("make the folder" in said) == (mode == 0o755)


async def test_a_file_that_becomes_read_only_is_said_so(path: Path) -> None:
    """SQLite's own refusal to write is translated, and reading goes on."""
    store = open_store(f"sqlite:///{path}")
    await store.ledger.append(record())
    store.database._writing.execute("PRAGMA query_only=ON")
    with pytest.raises(StoreReadOnly, match=r"store\.db"):
        await store.ledger.append(record(2))
    assert await store.ledger.decision("default", "d1") is not None
    store.close()


async def test_a_full_store_writes_nothing_and_recovers(path: Path) -> None:
    """After space is made, the same store works on without a restart."""
    store = open_store(f"sqlite:///{path}")
    await store.ledger.append(record())
    writing = store.database._writing
    pages = writing.execute("PRAGMA page_count").fetchone()[0]
    writing.execute(f"PRAGMA max_page_count={pages + 2}")
    answers = await asyncio.gather(
        *(store.ledger.append(record(number, request=b"r" * 50_000)) for number in range(2, 6)),
        return_exceptions=True,
    )
    assert all(isinstance(answer, StoreFull) for answer in answers)
    report = await store.ledger.verify()
    assert (report.ok, report.rows) == (True, 1)
    writing.execute("PRAGMA max_page_count=1000000")
    assert (await store.ledger.append(record(2, request=b"r" * 50_000))).created
    assert (await store.ledger.verify()).ok
    store.close()


async def _append_until_full(store: Store) -> int:
    for number in range(2_000):
        try:
            await store.ledger.append(record(number, request=b"r" * 20_000))
        except StoreFull:
            return number
    return 2_000


async def test_a_full_disk_loses_nothing_that_was_acknowledged(tiny_disk: Path) -> None:
    """Acknowledged rows stay, the others are refused, and writing goes on once there is room."""
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(bytes(400_000))
    store = open_store(f"sqlite:///{tiny_disk / 'store.db'}")
    acknowledged = await _append_until_full(store)
    assert 0 < acknowledged < 200
    report = await store.ledger.verify()
    assert (report.ok, report.rows) == (True, acknowledged)
    ballast.unlink()
    assert (await store.ledger.append(record("later"))).created
    assert (await store.ledger.verify()).rows == acknowledged + 1
    store.close()


async def test_a_lock_that_is_kept_is_said_to_be_busy(path: Path) -> None:
    """The whole batch waits once, fails with StoreBusy, and works after the lock is let go."""
    store = open_store(f"sqlite:///{path}", busy_timeout=0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = await asyncio.gather(
        *(store.ledger.append(record(number)) for number in range(5)), return_exceptions=True
    )
    assert all(isinstance(answer, StoreBusy) for answer in answers)
    assert await store.ledger.decision("default", "d1") is None
    other.execute("ROLLBACK")
    other.close()
    assert (await store.ledger.append(record())).created
    store.close()


async def test_a_closed_store_says_so(path: Path) -> None:
    """Nothing hangs after close, and closing twice is allowed."""
    store = open_store(f"sqlite:///{path}")
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.ledger.append(record())
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.ledger.decision("default", "d1")


async def test_a_switch_that_cannot_be_read_is_on(path: Path) -> None:
    """Anything but a clear 0 is on: a word, a null byte, an undecodable text (G29)."""
    store = open_store(f"sqlite:///{path}")
    await store.ledger.set_switch(switch(on=False))
    assert await store.ledger.switches_on("default", "s", None) == []
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER switches_no_update")
    for broken in ("'maybe'", "'off'", "''", "X'00'", "0.5", "2"):
        connection.execute(f'UPDATE switches SET "on" = {broken}')
        connection.commit()
        assert len(await store.ledger.switches_on("default", "s", None)) == 1, broken
    connection.execute("UPDATE switches SET \"on\" = 0, reason = CAST(X'FF' AS TEXT)")
    connection.commit()
    (unreadable,) = await store.ledger.switches_on("default", "s", None)
    assert unreadable.on
    assert "cannot be read" in unreadable.reason
    connection.close()
    store.close()
    assert len(await store.ledger.switches_on("default", "s", None)) == 1


@pytest.mark.parametrize("act", ["UPDATE {} SET workspace = 'x'", "DELETE FROM {}"])
@pytest.mark.parametrize(
    "table",
    ["decisions", "outcomes", "switches", "erasures", "consumptions", "policies", "activations",
     "calibrations"],
)  # fmt: skip
async def test_ledger_rows_cannot_be_changed_or_deleted(path: Path, table: str, act: str) -> None:
    """The database itself refuses, whoever asks."""
    store = open_store(f"sqlite:///{path}")
    connection = store.database._writing
    triggers = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
    ).fetchone()
    assert triggers == (2,)
    await store.ledger.append(record())
    await store.ledger.record_outcome(outcome())
    await store.ledger.set_switch(switch())
    if table in {"decisions", "outcomes", "switches"}:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(act.format(table))
    store.close()


async def test_a_row_cannot_be_replaced(path: Path) -> None:
    """REPLACE, which deletes without saying so, is refused too."""
    store = open_store(f"sqlite:///{path}")
    await store.ledger.append(record())
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store.database._writing.execute("REPLACE INTO decisions SELECT * FROM decisions")
    store.close()
