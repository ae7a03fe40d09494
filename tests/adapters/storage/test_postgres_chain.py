"""Many writers on one PostgreSQL: a stream each, one common chain, and seals that bind them."""

from __future__ import annotations

import asyncio
import multiprocessing

import psycopg
import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.core.chain import Head
from sureline.core.chain_export import verify_export
from sureline.core.chain_verification import ChainReport, FaultKind
from tests.adapters.storage.appending import append_many
from tests.adapters.storage.samples import NOON, outcome, record
from tests.postgres import Postgres

WRITERS, EACH = 33, 12
_FORKED = multiprocessing.get_context("forkserver")
"""Processes of their own, without opened stores: forked from one that has only imported."""
_FORKED.set_forkserver_preload(
    ["sureline.adapters.storage.store", "sureline.adapters.storage.postgres_database"]
)


async def _verified(url: str, **options: Head) -> ChainReport:
    store = open_store(url)
    report = await store.ledger.verify(**options)
    store.close()
    return report


@pytest.mark.slow
async def test_thirty_three_processes_leave_whole_chains(postgres: Postgres) -> None:
    """Each has a stream of its own; all verify, before and after the seal, with the same rows."""
    url = postgres.database()
    children = [
        _FORKED.Process(target=append_many, args=(url, f"p{n}", EACH)) for n in range(WRITERS)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * WRITERS
    before = await _verified(url)
    store = open_store(url)
    assert await store.ledger.seal(NOON)
    assert not await store.ledger.seal(NOON)
    after = await store.ledger.verify()
    exported = verify_export(store.ledger.export(), expected=after.head)
    store.close()
    assert (before.fault, before.rows) == (None, WRITERS * EACH)
    assert any("no seal" in spot for spot in before.cannot_see)
    assert (after.fault, after.rows) == (None, WRITERS * EACH + 1)
    assert not any("no seal" in spot for spot in after.cannot_see)
    assert (exported.fault, exported.rows) == (None, after.rows)


async def _two_writers(url: str, *, seal: bool = True) -> None:
    """Write six decisions into two streams, then answers and an erasure, then one unsealed row."""
    first, second = open_store(url), open_store(url)
    for number in (1, 2, 3):
        await first.ledger.append(record(number))
        await second.ledger.append(record(number + 10))
    await first.ledger.record_outcome(outcome("o1", "d12", comment="about Acme"))
    await second.ledger.erase("default", "d12", by="kim", reason="asked", at=NOON)
    if seal:
        assert await first.ledger.seal(NOON)
    await second.ledger.append(record(20))
    first.close()
    second.close()


def _tampered(url: str, *statements: str) -> None:
    """Change rows as someone with full access would: triggers first."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for statement in statements:
            connection.execute(statement.encode())


_SWAP = (
    "UPDATE decisions SET seq = -seq WHERE stream = 'writer-1' AND seq IN (1, 2)",
    "UPDATE decisions SET seq = seq + 3 WHERE stream = 'writer-1' AND seq < 0",
)


@pytest.mark.parametrize(
    ("statements", "kind"),
    [
        (("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd2'",), FaultKind.CHANGED),
        (("UPDATE outcomes SET correct = 0",), FaultKind.CHANGED),
        (("DELETE FROM decisions WHERE id = 'd2'",), FaultKind.MISSING),
        (_SWAP, FaultKind.CHANGED),
        (
            ("DELETE FROM payloads WHERE stream = 'writer-2' AND seq = 1",),
            FaultKind.PAYLOAD_MISSING,
        ),
        (
            ("UPDATE payloads SET answer = 'x' WHERE stream = 'writer-2'",),
            FaultKind.PAYLOAD_CHANGED,
        ),
        (("DELETE FROM decisions WHERE id = 'd20'",), FaultKind.CUT),
        (
            (
                "DELETE FROM decisions WHERE stream = 'writer-1'",
                "DELETE FROM heads WHERE stream = 'writer-1'",
            ),
            FaultKind.CUT,
        ),
        (("DELETE FROM seals",), FaultKind.CUT),
    ],
    ids=["changed", "label", "removed", "swapped", "payload gone", "payload", "cut", "all", "seal"],
)
async def test_what_was_done_to_rows_is_found(
    postgres: Postgres, statements: tuple[str, ...], kind: FaultKind
) -> None:
    """A changed, removed or swapped row, a payload without its erasure, a stream that is gone."""
    url = postgres.database()
    await _two_writers(url)
    whole = await _verified(url)
    assert (whole.fault, whole.erased) == (None, 2)
    _tampered(url, *statements)
    found = await _verified(url)
    assert found.fault is not None
    assert found.fault.kind is kind


async def test_an_unsealed_end_can_be_cut_off_unseen_and_that_is_said(postgres: Postgres) -> None:
    """Rows and head cut together after the last seal are not noticed; the report says how many."""
    url = postgres.database()
    await _two_writers(url)
    known = await _verified(url)
    assert "whether the last 1 decision were more: no seal covers them yet" in known.cannot_see
    with psycopg.connect(url) as connection:
        before = connection.execute("SELECT hash FROM decisions WHERE id = 'd13'").fetchone()
    assert before is not None
    _tampered(
        url,
        "DELETE FROM decisions WHERE id = 'd20'",
        f"UPDATE heads SET seq = 3, hash = '\\x{before[0].hex()}' WHERE stream = 'writer-2'",
    )
    assert (await _verified(url, expected=known.head)).fault is None


async def test_a_stream_is_free_again_when_its_writer_has_gone(postgres: Postgres) -> None:
    """A later process goes on with the stream of one that ended; two at once have two."""
    url = postgres.database()
    for number in (1, 2):
        store = open_store(url)
        await store.ledger.append(record(number))
        store.close()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT stream, seq FROM heads").fetchall()
    assert found == [("writer-1", 2)]


async def test_one_id_from_two_writers_is_one_decision(postgres: Postgres) -> None:
    """Whoever comes second gets what is stored, however close they are."""
    url = postgres.database()
    stores = [open_store(url) for _ in range(3)]

    async def append(store: Store, number: int) -> bytes:
        stored = await store.ledger.append(
            record(number % 10, body=f'{{"by": {id(store)}}}'.encode())
        )
        return stored.body

    bodies = await asyncio.gather(*(append(stores[n % 3], n // 3) for n in range(90)))
    report = await stores[0].ledger.verify()
    for store in stores:
        store.close()
    assert len(set(bodies)) <= 10
    assert (report.fault, report.rows) == (None, 10)
