"""Second opinions are counted with the decision that they are about, and never twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.ledger import LabelledRecord
from sureline.application.ports.opinion_counts import OpinionDay
from sureline.core.values.opinion_use import End
from sureline.core.values.periods import day_number
from tests.adapters.storage.samples import NOON, judged_body, outcome, record

TODAY = day_number(NOON)


async def _days(store: Store, since: int = 0) -> dict[tuple[End, str], OpinionDay]:
    return {
        (one.key.end, one.key.reason): one for one in await store.opinions.days("default", since)
    }


async def test_opinions_add_up_by_day_and_end(store: Store) -> None:
    """Three agreements of a day are one row; a failure has its reason, a refutation its own end."""
    for number in range(3):
        await store.ledger.append(record(number, body=judged_body(1.0)))
    await store.ledger.append(record("r", body=judged_body(0.0, verdict="refuted")))
    await store.ledger.append(record("f", body=judged_body(None, "timeout", model=None)))
    found = await _days(store)
    assert set(found) == {(End.AGREED, ""), (End.REFUTED, ""), (End.FAILED, "timeout")}
    agreed = found[End.AGREED, ""]
    assert (agreed.slice_key, agreed.day) == ("invoices", TODAY)
    assert (agreed.key.asked, agreed.key.answered) == ("openai:small", "small-2026")
    assert (agreed.sums.count, agreed.sums.cost, agreed.sums.ms) == (3, 3_600, 2_400)
    assert (agreed.sums.input_tokens, agreed.sums.calls, agreed.sums.value) == (2_700, 3, 3_000_000)
    assert found[End.FAILED, "timeout"].key.answered == ""


async def test_what_is_not_known_is_never_counted_as_nothing(store: Store) -> None:
    """An opinion of unknown cost adds to the number of opinions, not to the costed ones."""
    await store.ledger.append(record(1, body=judged_body(1.0)))
    await store.ledger.append(record(2, body=judged_body(1.0, cost=None, ms=None)))
    found = [one.sums for one in await store.opinions.days("default", 0)]
    assert sum(one.count for one in found) == 2
    assert sum(one.costed for one in found) == sum(one.timed for one in found) == 1


async def test_a_repeated_decision_counts_once(store: Store) -> None:
    """The same id again adds nothing, alone, within one batch, or in an import."""
    one = record(1, body=judged_body(1.0))
    await asyncio.gather(*(store.ledger.append(one) for _ in range(5)))
    await store.ledger.import_records([LabelledRecord(record=one, outcome=outcome())])
    assert [row.sums.count for row in await store.opinions.days("default", 0)] == [1]


async def test_imported_opinions_count_too(store: Store) -> None:
    """Decisions that are taken in together have their opinions counted."""
    rows = [
        LabelledRecord(record=record(number, body=judged_body(1.0)), outcome=None)
        for number in range(7)
    ]
    await store.ledger.import_records(rows)
    assert [row.sums.count for row in await store.opinions.days("default", 0)] == [7]


async def test_only_what_is_asked_for_is_read(store: Store) -> None:
    """Days before the first one, and other workspaces, are left out."""
    yesterday: dict[str, Any] = {"created_at": NOON - timedelta(days=1)}
    await store.ledger.append(record(1, body=judged_body(1.0), **yesterday))
    await store.ledger.append(record(2, body=judged_body(1.0)))
    await store.ledger.append(record(3, body=judged_body(1.0), workspace="other"))
    assert [one.day for one in await store.opinions.days("default", 0)] == [TODAY - 1, TODAY]
    assert [one.day for one in await store.opinions.days("default", TODAY)] == [TODAY]


def test_counts_follow_from_the_ledger(path: Path) -> None:
    """Counts that were lost come back as they were from the decisions alone."""
    store = open_store(f"sqlite:///{path}")

    async def fill() -> None:
        for number in range(40):
            body = judged_body(number % 3 / 2, ms=number * 100, cost=number / 7000)
            await store.ledger.append(record(number, body=body, slice_key=f"s{number % 2}"))

    asyncio.run(fill())
    before = asyncio.run(store.opinions.days("default", 0))
    assert all(one.ok for one in asyncio.run(store.derived.compare()))
    store.database._writing.executescript("DELETE FROM opinion_counts")
    asyncio.run(store.ledger.rebuild_counts())
    assert asyncio.run(store.opinions.days("default", 0)) == before
    assert len(before) > 10
    store.close()


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"kind":"judge"', b'{"signals":7,"kind":"judge"}', b'["kind":"judge"]']
)
async def test_what_is_no_decision_has_no_opinions(store: Store, body: bytes) -> None:
    """A body that cannot be read is stored and counts no opinion."""
    await store.ledger.append(record(1, body=body))
    assert await store.opinions.days("default", 0) == []
