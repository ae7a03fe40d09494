"""Rows of area 7-ops about the chain and the schema: whole, tampered with, and newer."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from sureline.adapters.storage import migrating, postgres_schema, schema
from sureline.adapters.storage.store import open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.core.chain_export import read_export_line
from sureline.core.chain_verification import ChainReport, FaultKind
from sureline.errors import StoreTooNew
from tests.adapters.storage.appending import append_many
from tests.adapters.storage.older_stores import connected
from tests.adapters.storage.samples import NOON, outcome, record
from tests.cases.stores import both, damage, in_processes, on_file, path_of, rows
from tests.cases.test_history_cases import Cases
from tests.postgres import Postgres


async def verified(url: str) -> ChainReport:
    store = open_store(url)
    report = await store.ledger.verify()
    store.close()
    return report


async def predecessors(url: str) -> list[tuple[str, int, bytes]]:
    """Return which row each decision follows, by its hash, as an auditor's export has them."""
    store = open_store(url)
    exported = [read_export_line(line) for line in store.ledger.export(payloads=False)]
    store.close()
    hashes = {(row.stream, row.seq): row.hash for row in exported}
    decided = [row for row in exported if row.kind == "decision"]
    return [(row.stream, row.seq, hashes.get((row.stream, row.seq - 1), b"")) for row in decided]


@pytest.mark.slow
def test_o12_concurrent_appends_share_no_predecessor(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """Five processes append ten rows each: fifty rows, fifty predecessors, and it verifies.

    On PostgreSQL the first row of each stream follows none, which is its own place.
    """
    given = cases["O12"]["input"]
    processes, each = given["processes"], given["appends_each"]
    for url in both(tmp_path, postgres):
        work = [(url, f"p{number}", each) for number in range(processes)]
        assert in_processes(append_many, work) == [0] * processes
        report = asyncio.run(verified(url))
        assert (report.fault, report.rows) == (None, processes * each)
        found = asyncio.run(predecessors(url))
        streams = {stream for stream, *_ in found}
        assert streams == set(report.heads)
        assert len({(stream, before) for stream, _, before in found}) == len(found) == 50


async def test_o13_what_is_hashed_is_what_is_stored(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """A moment keeps whole microseconds before it is hashed, and reads back as it was written."""
    nanoseconds = cases["O13"]["input"]["timestamp_ns"]
    moment = NOON.replace(microsecond=0) + timedelta(microseconds=nanoseconds / 1000)
    assert moment.microsecond == round(nanoseconds / 1000)
    for url in both(tmp_path, postgres):
        store = open_store(url)
        await store.ledger.append(record(1, created_at=moment, score=0.1 + 0.2))
        await store.ledger.record_outcome(outcome("o1", "d1", recorded_at=moment))
        stored = await store.ledger.decision("default", "d1")
        assert stored is not None
        assert (stored.created_at, stored.score) == (moment, 0.1 + 0.2)
        store.close()
        micros = (moment - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // timedelta(
            microseconds=1
        )
        assert rows(url, "SELECT created_at FROM decisions") == [(micros,)]
        assert (await verified(url)).fault is None


async def test_o18_a_record_of_destruction_cannot_vanish(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """An erasure is a row of the chain: without it, its place is missing, and its payload too."""
    assert cases["O18"]["input"]["action"] == "delete the erasure record"
    for url in both(tmp_path, postgres):
        store = open_store(url)
        await store.ledger.append(record(1))
        await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
        await store.ledger.record_outcome(outcome("o1", "d1"))
        store.close()
        assert (await verified(url)).erased == 1
        place = rows(url, "SELECT stream, seq FROM erasures")[0]
        damage(url, "DELETE FROM erasures")
        found = await verified(url)
        assert found.fault is not None
        assert (found.fault.kind, found.fault.seq) == (FaultKind.MISSING, place[1])


async def test_o26_what_points_at_a_broken_row_is_no_excuse(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """A row that follows the altered fifth one with a right hash does not make it a fork."""
    assert "row 5" in cases["O26"]["expected"]
    for url in both(tmp_path, postgres):
        store = open_store(url)
        for number in range(1, 6):
            await store.ledger.append(record(number))
        store.close()
        fake = hashlib.sha256(b"fake").hexdigest()
        value = f"X'{fake}'" if on_file(url) else f"'\\x{fake}'"
        damage(url, f"UPDATE decisions SET route = 'auto_approve', hash = {value} WHERE seq = 5")
        damage(url, f"UPDATE heads SET hash = {value}")
        store = open_store(url)  # what the product appends next stands on the altered row
        await store.ledger.append(record("after"))
        store.close()
        assert rows(url, "SELECT max(seq) FROM decisions") == [(6,)]
        found = await verified(url)
        assert found.fault is not None
        assert (found.fault.kind, found.fault.seq) == (FaultKind.CHANGED, 5)


def open_and_append(url: str, name: str) -> None:
    """Open a store that another may be making, and append; the body of a process."""
    store = open_store(url, busy_timeout=30)
    asyncio.run(store.ledger.append(record(name)))
    store.close()


@pytest.mark.slow
def test_o10_one_migrates_and_an_older_version_refuses(
    cases: Cases, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two replicas start together on nothing and both go on; the older one says "newer"."""
    assert cases["O10"]["input"]["start"] == "2 replicas together"
    urls = both(tmp_path, postgres, empty=True)
    for url in urls:
        assert in_processes(open_and_append, [(url, "one"), (url, "two")]) == [0, 0]
        assert rows(url, "SELECT version_num FROM alembic_version") == [(SCHEMA_REVISION,)]
        assert rows(url, "SELECT count(*) FROM meta WHERE name = 'secret'") == [(1,)]
        assert asyncio.run(verified(url)).rows == 2
    for module in (schema, postgres_schema):
        monkeypatch.setattr(module, "SCHEMA_REVISION", "0000")
    for module in (migrating, schema, postgres_schema):
        monkeypatch.setattr(module, "known_revisions", lambda: {"0000"})
    for url in urls:
        before = path_of(url).read_bytes() if on_file(url) else b""
        with pytest.raises(StoreTooNew, match="knows only 0000: install the newer sureline"):
            open_store(url)
        if on_file(url):
            assert path_of(url).read_bytes() == before
        with connected(url) as connection:
            found = connection.execute(text("SELECT count(*) FROM decisions")).scalar_one()
        assert found == 2
