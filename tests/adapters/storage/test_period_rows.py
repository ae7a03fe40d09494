"""The rows of a period are found in every stream, wherever they stand in it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sureline.adapters.storage.period_rows import PeriodRows
from sureline.adapters.storage.store import open_store
from sureline.adapters.storage.tables import CHAINED
from sureline.core.chain import Head
from sureline.core.evidence import MOMENTS, Period
from tests.adapters.storage.samples import NOON, outcome, record
from tests.postgres import Postgres

DAY = timedelta(days=1)


def test_every_kind_of_row_has_its_moment() -> None:
    """A table that is added to the ledger must say which column tells when its rows were made."""
    assert set(MOMENTS) == set(CHAINED)
    for kind, table in CHAINED.items():
        times = [
            name
            for name in [column.name for column in table.columns]
            if name == "at" or name.endswith("_at")
        ]
        assert times == [MOMENTS[kind]]


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_a_stretch_holds_all_rows_of_the_period(
    kind: str, tmp_path: Path, postgres: Postgres
) -> None:
    """From the first to the last of them, with what lies between; one row may be the whole."""
    url = f"sqlite:///{tmp_path / 's.db'}" if kind == "file" else postgres.database()
    store = open_store(url)
    for number, day in enumerate((0, 1, 2, 0, 3)):
        await store.ledger.append(record(number, created_at=NOON + day * DAY))
    await store.ledger.record_outcome(outcome(recorded_at=NOON + 9 * DAY))
    with store.database.reader() as fetch:
        rows = PeriodRows(fetch=fetch, store="s")
        found = rows.stretches(Period(workspace="default", since=NOON, until=NOON + DAY))
        ((stream, stretch),) = found.items()
        assert (stretch.before, stretch.last.seq) == (Head(), 4)
        listed = list(rows.rows(stream, stretch))
        assert [row.fields["id"] for row in listed] == ["d0", "d1", "d2", "d3"]
        assert listed[-1].hash == stretch.last.hash
        later = rows.stretches(
            Period(workspace="default", since=NOON + 2 * DAY, until=NOON + 3 * DAY)
        )
        assert later[stream].before == Head(seq=2, hash=listed[1].hash)
        assert later[stream].last == Head(seq=3, hash=listed[2].hash)
        one = rows.row(stream, 2)
        assert one is not None
        assert one.payload is not None
        assert rows.row(stream, 99) is None
        early = Period(workspace="default", since=NOON - 9 * DAY, until=NOON)
        assert rows.stretches(early) == {}
    store.close()
