"""A store that cannot be written can be read, as a whole or not at all."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.adapters.storage.store import open_store
from sureline.errors import StoreReadOnly
from tests.adapters.storage.nobody import as_nobody
from tests.adapters.storage.samples import record


def _read_and_write(path: Path) -> str:
    """Read what auditors read, then try to write; return what came of both."""

    async def work() -> str:
        store = open_store(f"sqlite:///{path}", create=False, to_write=False)
        report = await store.ledger.verify()
        tables = await store.derived.compare()
        lines = sum(1 for _ in store.ledger.export())
        known = await store.ledger.decision("default", "d1")
        said = f"{report.ok} {report.rows} {all(one.ok for one in tables)} {lines} {known is None}"
        try:
            await store.ledger.append(record(9))
        except StoreReadOnly as error:
            said += f" {error.message}"
        store.close()
        return said

    return asyncio.run(work())


def _copied_while_open(path: Path, *, index: bool) -> None:
    """Leave a store whose last decision is only in the log, as a copy of a live store has it."""
    store = open_store(f"sqlite:///{path}")
    asyncio.run(store.ledger.append(record()))
    names = [path.name, f"{path.name}-wal", *([f"{path.name}-shm"] if index else [])]
    for name in names:
        shutil.copy(path.parent / name, path.parent / f"{name}.copy")
    store.close()
    for name in names:
        (path.parent / f"{name}.copy").rename(path.parent / name)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root to become nobody")
@pytest.mark.parametrize("log", ["none", "log", "log and index"])
@pytest.mark.parametrize(("folder", "file"), [(0o755, 0o644), (0o777, 0o444), (0o555, 0o666)])
def test_what_cannot_be_written_can_be_read(
    public_folder: Path, folder: int, file: int, log: str
) -> None:
    """Reading is complete, leaves nothing behind, and only writing is refused."""
    path = public_folder / "store.db"
    if log == "none":
        store = open_store(f"sqlite:///{path}")
        asyncio.run(store.ledger.append(record()))
        store.close()
    else:
        _copied_while_open(path, index=log == "log and index")
    for one in public_folder.iterdir():
        one.chmod(file)
    public_folder.chmod(folder)
    before = {one.name: one.read_bytes() for one in public_folder.iterdir()}
    said = as_nobody(lambda: _read_and_write(path))
    if log == "log" and folder != 0o777:
        assert said.startswith("StoreReadOnly")
        assert "store.db-wal" in said
    else:
        assert said.startswith("True 1 True 1 False ")
        assert "read-only" in said
        assert path.read_bytes() == before["store.db"]
    if log == "none":
        assert [one.name for one in public_folder.iterdir()] == ["store.db"]


def test_a_store_of_an_older_schema_is_not_read_where_it_cannot_be_upgraded(
    public_folder: Path,
) -> None:
    """An empty file, as the plainest case of it, is said to need tables and is left alone."""
    path = public_folder / "store.db"
    path.touch(mode=0o444)
    with pytest.raises(StoreReadOnly, match="copy that can be written"):
        _opened_to_read(path)


def _opened_to_read(path: Path) -> None:
    SqliteDatabase(
        str(path), where=str(path), memory=False, busy_timeout=1.0, read_only="it is a test"
    )


def test_a_read_only_disk_is_read(tiny_disk: Path) -> None:
    """Even root cannot write there; a store on it is read and says why it is not written."""
    path = tiny_disk / "store.db"
    store = open_store(f"sqlite:///{path}")
    asyncio.run(store.ledger.append(record()))
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    said = _read_and_write(path)
    assert said.startswith("True 1 True 1 False ")
    assert "read-only" in said
    with pytest.raises(StoreReadOnly):
        open_store(f"sqlite:///{path}")
