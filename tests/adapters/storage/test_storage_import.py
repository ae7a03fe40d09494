"""Past decisions come in by the thousand and leave the same tables as one by one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.ledger import LabelledRecord
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.stratum import Fold
from tests.adapters.storage.samples import NOON, outcome, record, stratum

_TABLES = (
    "decisions", "outcomes", "payloads", "vectors", "labels", "label_counts", "route_counts",
    "score_counts",
)  # fmt: skip
_RANDOM = {"hash", "salt", "payload_digest", "vector_digest"}
"""Columns that differ between any two stores, because salts do."""


def row(number: int, label: bool | None, anchored: bool, **changes: Any) -> LabelledRecord:
    """Make a past decision, labelled unless `label` is None."""
    given = None
    if label is not None:
        action = Action.APPROVE if label else Action.REJECT
        given = outcome(
            f"o{number}", f"d{number}", action=action, correct=label, anchored=anchored,
            source=OutcomeSource.IMPORT,
        )  # fmt: skip
    return LabelledRecord(record=record(number, **changes), outcome=given)


def tables(store: Store) -> dict[str, list[Any]]:
    """Return what is in the tables, but for what is random."""
    found = {}
    for name in _TABLES:
        columns = [column.name for column in metadata.tables[name].columns]
        kept = ", ".join(f'"{one}"' for one in columns if one not in _RANDOM)
        found[name] = sorted(
            store.database.fetch(Statement(text(f"SELECT {kept} FROM {name}"))), key=repr
        )
    return found


def drawn(count: int) -> list[LabelledRecord]:
    """Draw past decisions of all kinds."""
    draw = Random(11)
    return [
        row(
            number,
            label=draw.choice([True, False, None]),
            anchored=draw.random() < 0.5,
            slice_key=draw.choice("ab"),
            route=draw.choice(["human_review", "human_required"]),
            score_bin=draw.choice([None, 1, 2]),
            stratum=stratum(representative=draw.random() < 0.5, fold=draw.choice(list(Fold))),
            created_at=NOON + timedelta(days=draw.choice([0, 9])),
            vector=draw.choice([None, bytes(64)]),
        )
        for number in range(count)
    ]


async def test_bulk_and_one_by_one_leave_the_same_tables(tmp_path: Path) -> None:
    """Decisions, payloads, outcomes, labels and all counts are equal, and the chain verifies."""
    rows = drawn(200)
    bulk, single = (open_store(f"sqlite:///{tmp_path / name}") for name in ("bulk.db", "one.db"))
    assert await bulk.ledger.import_records(rows) == [True] * len(rows)
    for one in rows:
        await single.ledger.append(one.record)
    for one in rows:
        if one.outcome is not None:
            await single.ledger.record_outcome(one.outcome)
    assert tables(bulk) == tables(single)
    assert (await bulk.ledger.verify()).ok
    before = tables(bulk)
    await bulk.ledger.rebuild_counts()
    assert tables(bulk) == before
    bulk.close()
    single.close()


async def test_what_is_stored_is_left_to_the_usual_path(store: Store) -> None:
    """A decision that is there, or twice in one batch, and a used outcome id, are not written."""
    await store.ledger.append(record(1))
    await store.ledger.record_outcome(outcome("o3", "d1"))
    before = tables(store)["outcomes"]
    rows = [row(number, label=True, anchored=False) for number in (1, 2, 2, 3)]
    assert await store.ledger.import_records(rows) == [False, True, False, False]
    found = tables(store)
    assert {one[3] for one in found["decisions"]} == {"d1", "d2"}
    assert len(found["outcomes"]) == len(before) + 1
    assert (await store.ledger.verify()).ok


async def test_it_tells_what_is_recorded(store: Store) -> None:
    """Digest and effective label are told for the ids that are there, and nothing of others."""
    await store.ledger.import_records([row(1, True, False), row(2, None, False)])
    await store.ledger.record_outcome(outcome("late", "d1", correct=False, action=Action.REJECT))
    found = await store.ledger.recorded("default", ["d1", "d2", "d9", 'quote"d'])
    assert [(one.decision_id, one.correct) for one in found] == [("d1", False), ("d2", None)]
    assert found[0].content_digest == record(1).content_digest
    assert await store.ledger.recorded("elsewhere", ["d1"]) == []


@pytest.mark.parametrize("size", [1, 3_000], ids=["one", "thousands"])
async def test_any_number_of_rows_is_one_transaction(store: Store, size: int) -> None:
    """The number of rows is not limited by the number of a statement's parameters."""
    rows = [row(number, True, False, vector=None) for number in range(size)]
    assert all(await store.ledger.import_records(rows))
    counts = await store.ledger.label_counts("default", "invoices", record().measurement_hash)
    assert sum(one.count for one in counts) == size
