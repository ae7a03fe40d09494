"""A backup is the store as of one moment; a restored one acts on nothing twice."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.adapters.storage import backup
from sureline.adapters.storage.backup import copy_file, new_file
from sureline.adapters.storage.copy_store import copy_store
from sureline.adapters.storage.restored import MarkRestored, every_erasure, newest_moment
from sureline.adapters.storage.store import open_store
from sureline.bootstrap.backup import back_up, drill, mark_restored
from sureline.core.values.outcome import Action
from sureline.errors import InvalidInput, Refused, StoreCorrupt, StoreError, SurelineError
from tests.adapters.storage.samples import NOON, outcome, record, switch
from tests.postgres import Postgres


@pytest.fixture(params=["file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres) -> str:
    """Name a store of either kind."""
    return f"sqlite:///{tmp_path / 's.db'}" if request.param == "file" else postgres.database()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_backup_is_made_while_others_write(url: str, tmp_path: Path) -> None:
    """It is as of one moment, verified, readable by its owner alone; the store goes on."""
    store = open_store(url)
    for number in range(30):
        await store.ledger.append(record(number, body=b'{"x": "' + b"y" * 4_000 + b'"}'))
    await store.ledger.set_switch(switch())
    copied: list[int] = []

    async def write() -> None:
        for number in range(100, 160):
            await store.ledger.append(record(number))

    writing = asyncio.create_task(write())
    await asyncio.sleep(0)
    made = await back_up(url, tmp_path / "b.db", progress=copied.append)
    await writing
    assert made.rows >= 31
    assert sum(copied) > 0
    assert stat.S_IMODE((tmp_path / "b.db").stat().st_mode) == 0o600
    assert not any("part" in name for name in _names(tmp_path))
    found = await drill(tmp_path / "b.db", None)
    assert (found.faults, found.chain.rows, str(found.chain.head)) == ((), made.rows, made.head)
    assert found.newest == NOON
    with pytest.raises(Refused, match="never overwritten"):
        await back_up(url, tmp_path / "b.db", progress=copied.append)
    store.close()


def test_a_copy_never_starts_anew(tmp_path: Path) -> None:
    """What is written between two steps by somebody else is not in it, and takes it no further."""
    source, target = tmp_path / "s.db", tmp_path / "t.db"
    open_store(f"sqlite:///{source}").close()
    store = open_store(f"sqlite:///{source}")
    asyncio.run(store.ledger.append(record(1, body=b"x" * 12_000_000)))
    steps: list[int] = []

    def step(pages: int) -> None:
        steps.append(pages)
        if len(steps) < 50:
            asyncio.run(store.ledger.append(record(f"during{len(steps)}")))

    copy_file(source, target, progress=step)
    store.close()
    assert 2 <= len(steps) < 10
    with sqlite3.connect(target) as found:
        assert found.execute("SELECT count(*) FROM decisions").fetchone() == (1,)
    found.close()


async def test_a_store_that_does_not_hold_is_not_backed_up(tmp_path: Path) -> None:
    """Nothing is left behind, neither the backup nor a part of it."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(url)
    await store.ledger.append(record(1))
    await store.ledger.record_outcome(outcome("o1", "d1"))
    store.close()
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute("UPDATE label_counts SET count = count + 1")
    database.close()
    with pytest.raises(Refused, match="ledger rebuild"):
        await back_up(url, tmp_path / "b.db", progress=lambda _: None)
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute("DROP TRIGGER outcomes_no_update")
        database.execute("UPDATE outcomes SET correct = 0")
    database.close()
    with pytest.raises(Refused, match="does not hold, so no backup"):
        await back_up(url, tmp_path / "b.db", progress=lambda _: None)
    assert _names(tmp_path) == ["s.db"]


async def test_a_store_of_an_earlier_version_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup before an upgrade is not upgraded by being verified, nor is the store."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(url)
    await store.ledger.append(record(1))
    store.close()
    before = (tmp_path / "s.db").read_bytes()
    copy_file(tmp_path / "s.db", tmp_path / "c.db", progress=lambda _: None)
    monkeypatch.setattr(backup, "SCHEMA_REVISION", "9999")
    made = await back_up(url, tmp_path / "b.db", progress=lambda _: None)
    assert made.rows == 1
    assert (tmp_path / "b.db").read_bytes() == (tmp_path / "c.db").read_bytes()
    assert (tmp_path / "s.db").read_bytes() == before
    assert _names(tmp_path) == ["b.db", "c.db", "s.db"]


async def test_what_cannot_be_backed_up_or_tried_is_said(tmp_path: Path) -> None:
    """A store in memory, a folder that is not there, no file, a file that is no store."""
    with pytest.raises(InvalidInput, match="in memory"):
        await back_up("sqlite://", tmp_path / "b.db", progress=lambda _: None)
    with pytest.raises(InvalidInput, match="cannot write"), new_file(tmp_path / "no" / "b.db"):
        pass
    with pytest.raises(InvalidInput, match="no such backup"):
        await drill(tmp_path / "b.db", None)
    (tmp_path / "b.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(SurelineError):
        await drill(tmp_path / "b.db", None)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"SQLite format 3\x00" + bytes(84), "not a sureline store"),
        (b"PK\x03\x04", "not a sureline store"),
    ],
    ids=["empty", "blank", "archive"],
)
async def test_what_is_no_store_cannot_be_restored(tmp_path: Path, data: bytes, words: str) -> None:
    """It is not made one by being opened: neither drilled, backed up, nor taken into use."""
    path = tmp_path / "b.db"
    path.write_bytes(data)
    with pytest.raises(Refused, match=words) as refused:
        await drill(path, None)
    assert str(path) in refused.value.message
    with pytest.raises(StoreCorrupt, match=words):
        await back_up(f"sqlite:///{path}", tmp_path / "c.db", progress=lambda _: None)
    with pytest.raises(StoreCorrupt, match=words):
        await mark_restored(f"sqlite:///{path}", by="ada", reason="lost", erasures=())
    assert path.read_bytes() == data
    assert _names(tmp_path) == ["b.db"]


async def test_a_store_without_a_row_is_restorable_only_if_expected(tmp_path: Path) -> None:
    """A backup of the wrong store would pass otherwise."""
    path = tmp_path / "b.db"
    open_store(f"sqlite:///{path}").close()
    assert "nothing was ever recorded" in (await drill(path, None)).faults[0]
    assert (await drill(path, None, may_be_empty=True)).faults == ()


async def test_a_damaged_backup_does_not_pass_the_drill(tmp_path: Path) -> None:
    """Whoever changed it is noticed, and the file itself is not touched."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(url)
    await store.ledger.append(record(1))
    store.close()
    await back_up(url, tmp_path / "b.db", progress=lambda _: None)
    with sqlite3.connect(tmp_path / "b.db") as database:
        database.execute("DROP TRIGGER decisions_no_update")
        database.execute("UPDATE decisions SET route = 'auto_approve'")
    database.close()
    before = (tmp_path / "b.db").read_bytes()
    found = await drill(tmp_path / "b.db", None)
    assert "was changed or replaced" in found.faults[0]
    assert (tmp_path / "b.db").read_bytes() == before


async def test_a_restored_store_uses_no_approval_of_before(url: str) -> None:
    """Automatic ones that are not too old and a person's; what waits can still be approved."""
    store = open_store(url)
    young = NOON - timedelta(minutes=5)
    for name, changes in {
        "auto": {"route": "auto_approve", "created_at": young},
        "old": {"route": "auto_approve", "created_at": NOON - timedelta(days=3)},
        "used": {"route": "auto_approve", "created_at": young},
        "said": {},
        "edited": {},
        "no": {},
        "waits": {},
        "imported": {},
    }.items():
        await store.ledger.append(record(name, **changes))
    await store.ledger.consume("default", "dused", NOON)
    edit = outcome("o2", "dedited", action=Action.EDIT, correct=False)
    reject = outcome("o3", "dno", action=Action.REJECT, correct=False)
    imported = outcome("o4", "dimported", source="import")
    for one in (outcome("o1", "dsaid"), edit, reject, imported):
        await store.ledger.record_outcome(one)
    assert await store.database.write(MarkRestored("ada", "the disk died", NOON)) == 3
    for name in ("dauto", "dsaid", "dedited"):
        assert await store.ledger.consume("default", name, NOON) is False
    assert await store.ledger.consume("default", "dwaits", NOON) is True
    (on,) = await store.ledger.switches_on("default", "invoices", None)
    assert (on.scope, on.by, "the disk died" in on.reason) == ("global", "ada", True)
    (act,) = await store.registry.activations("default", "restored")
    assert (act.by, act.note) == ("ada", "the disk died")
    assert (await store.ledger.verify()).ok
    assert await store.database.write(MarkRestored("ada", "again", NOON)) == 0
    store.close()


async def test_erasures_of_every_workspace_are_listed(url: str) -> None:
    """They are what a backup from before must be told."""
    store = open_store(url)
    for workspace in ("default", "other"):
        await store.ledger.append(record(workspace, workspace=workspace))
        await store.ledger.erase(workspace, f"d{workspace}", by="ada", reason="asked", at=NOON)
    found = every_erasure(store.database)
    assert [(one.workspace, one.decision_id) for one in found] == [
        ("default", "ddefault"),
        ("other", "dother"),
    ]
    assert newest_moment(store.database) == NOON
    store.close()


async def test_a_backup_of_postgres_goes_back_to_postgres(
    postgres: Postgres, tmp_path: Path
) -> None:
    """Through a file and `store copy`: the chain holds with all its streams, and goes on."""
    source = open_store(postgres.database())
    for number in range(5):
        await source.ledger.append(record(number))
    await source.ledger.seal(NOON)
    await source.ledger.append(record(9))
    await back_up(source.url, tmp_path / "b.db", progress=lambda _: None)
    file = open_store(f"sqlite:///{tmp_path / 'b.db'}")
    target = open_store(postgres.database())
    report = await copy_store(file, target, progress=lambda _: None)
    assert report.problem is None
    for store in (file, target):
        await store.ledger.append(record(f"after-{store.url[:6]}"))
        assert (await store.ledger.verify()).rows == 8
    for store in (source, file, target):
        store.close()


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """What fails while the file is written, and while it takes its name, is said and cleaned up."""
    with pytest.raises(StoreError, match="cannot be written"), new_file(tmp_path / "b.db"):
        raise OSError(28, "No space left on device")
    with pytest.raises(Refused, match="never overwritten"), new_file(tmp_path / "b.db"):
        (tmp_path / "b.db").write_text("came meanwhile")
    assert _names(tmp_path) == ["b.db"]
