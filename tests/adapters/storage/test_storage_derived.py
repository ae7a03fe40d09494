"""Labels and counts are compared with the ledger, and put right from it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.core.derived_verification import TableReport
from tests.adapters.storage.samples import MEASUREMENT, NOON, judged_body, outcome, record


async def _fill(store: Store) -> None:
    for number in range(3):
        await store.ledger.append(record(number))
    await store.ledger.append(record(3, body=judged_body(1.0)))
    for number in range(3):
        await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}"))
    await store.ledger.record_outcome(outcome("o3", "d0", correct=False))


@pytest.fixture
def filled(path: Path) -> Store:
    """Open a store with four decisions, three of them labelled, one of these twice."""
    store = open_store(f"sqlite:///{path}")
    asyncio.run(_fill(store))
    return store


def _wrong(reports: tuple[TableReport, ...]) -> dict[str, int]:
    return {one.table: one.differing for one in reports if not one.ok}


TAMPERED = [
    pytest.param("UPDATE label_counts SET count = count + 5000", {"label_counts": 2}, id="count"),
    pytest.param("DELETE FROM label_counts", {"label_counts": 2}, id="counts gone"),
    pytest.param(
        "INSERT INTO label_counts SELECT workspace, 'bills', measurement_hash, week, score_bin, "
        "stratum, correct, stream, 7 FROM label_counts LIMIT 1",
        {"label_counts": 1},
        id="count invented",
    ),
    pytest.param("UPDATE label_counts SET score_bin = score_bin + 1", {"label_counts": 4},
                 id="counts moved"),
    pytest.param("UPDATE labels SET correct = 1", {"labels": 1}, id="label turned"),
    pytest.param("UPDATE labels SET mark = 0", {"labels": 3}, id="mark"),
    pytest.param("DELETE FROM labels WHERE decision_id = 'd1'", {"labels": 1}, id="label gone"),
    pytest.param(
        "INSERT INTO labels SELECT workspace, 'd3', stream, seq, stratum, correct, mark "
        "FROM labels LIMIT 1",
        {"labels": 1},
        id="label invented",
    ),
    pytest.param("UPDATE labels SET stratum = CAST(X'FF' AS TEXT)", {"labels": 3}, id="no text"),
    pytest.param("UPDATE score_counts SET count = 'many'", {"score_counts": 1}, id="no number"),
    pytest.param("UPDATE route_counts SET route = 'auto_approve'", {"route_counts": 2},
                 id="route"),
    pytest.param("UPDATE opinion_counts SET cost = 0", {"opinion_counts": 1}, id="cost"),
    pytest.param("UPDATE opinion_counts SET end = 'failed'", {"opinion_counts": 2}, id="end"),
    pytest.param("DELETE FROM opinion_counts", {"opinion_counts": 1}, id="opinions gone"),
    pytest.param(
        "DELETE FROM route_counts; DELETE FROM score_counts",
        {"score_counts": 1, "route_counts": 1},
        id="two tables",
    ),
    pytest.param("UPDATE payloads SET workspace = 'other' WHERE seq < 3", {"payloads": 2},
                 id="payload's workspace"),
    pytest.param("UPDATE vectors SET workspace = 'other' WHERE seq = 1", {"vectors": 1},
                 id="vector's workspace"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "wrong"), TAMPERED)
def test_a_table_that_does_not_follow_from_the_ledger_is_named(
    filled: Store, act: str, wrong: dict[str, int]
) -> None:
    """Whatever is changed behind the store's back is found, while the chain still holds."""
    assert _wrong(asyncio.run(filled.derived.compare())) == {}
    filled.database._writing.executescript(act)
    found = asyncio.run(filled.derived.compare())
    assert _wrong(found) == wrong
    assert all(" is stored, " in one.sentence for one in found if not one.ok)
    assert asyncio.run(filled.ledger.verify()).ok
    filled.close()


@pytest.mark.parametrize(("act", "wrong"), TAMPERED)
def test_rebuilding_puts_right_and_records_it(
    filled: Store, act: str, wrong: dict[str, int]
) -> None:
    """The tables follow from the ledger again; who did it and what was wrong is in the chain."""
    filled.database._writing.executescript(act)
    before = asyncio.run(filled.derived.rebuild(workspace="default", by="kim", at=NOON))
    assert _wrong(before) == wrong
    assert _wrong(asyncio.run(filled.derived.compare())) == {}
    (entry,) = asyncio.run(filled.registry.activations("default", "rebuild"))
    assert (entry.by, set(entry.subject.split(", "))) == ("kim", set(wrong))
    assert asyncio.run(filled.ledger.verify()).ok
    filled.close()


async def test_nothing_to_put_right_is_not_recorded(store: Store) -> None:
    """Rebuilding what is right writes nothing, in a file and in memory."""
    await _fill(store)
    before = await store.derived.rebuild(workspace="default", by="kim", at=NOON)
    assert [(one.table, one.rows) for one in before] == [
        ("labels", 3), ("label_counts", 2), ("score_counts", 1), ("route_counts", 1),
        ("opinion_counts", 1), ("incidents", 0), ("missions", 0), ("payloads", 4), ("vectors", 4),
        ("subjects", 0),
    ]  # fmt: skip
    assert await store.registry.activations("default", "rebuild") == []
    assert len(await store.ledger.label_counts("default", "invoices", MEASUREMENT)) == 2


async def test_writing_meanwhile_is_no_difference(path: Path) -> None:
    """The comparison sees one moment, whatever other tasks write."""
    store = open_store(f"sqlite:///{path}")
    await _fill(store)

    async def write() -> None:
        for number in range(10, 60):
            await store.ledger.append(record(number))
            await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}"))

    writing = asyncio.create_task(write())
    while not writing.done():
        assert _wrong(await store.derived.compare()) == {}
    await writing
    store.close()
