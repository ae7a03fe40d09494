"""Where a decision stands in the chain, and a slice's latest decisions."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sureline.adapters.storage import provenance
from sureline.adapters.storage.store import Store
from tests.adapters.storage.samples import NOON, outcome, record


async def test_the_latest_of_a_slice_come_newest_first(store: Store) -> None:
    """Other slices and workspaces are left out; a label comes with its decision."""
    for number in range(6):
        slice_key = "letters" if number % 2 else "invoices"
        at = NOON + timedelta(hours=number)
        await store.ledger.append(record(number, slice_key=slice_key, created_at=at))
    await store.ledger.append(record("other", workspace="another"))
    await store.ledger.record_outcome(outcome("o", "d4", correct=False))
    found = await store.provenance.latest("default", "invoices", limit=2)
    assert [(one.id, one.correct) for one in found] == [("d4", False), ("d2", None)]
    assert found[0].created_at == NOON + timedelta(hours=4)
    assert await store.provenance.latest("default", "unknown", limit=2) == []


async def test_only_the_newest_rows_are_looked_at(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slice whose decisions are all old costs no reading of the whole ledger."""
    monkeypatch.setattr(provenance, "LOOKED_AT", 3)
    await store.ledger.append(record(0, slice_key="letters"))
    for number in range(1, 5):
        await store.ledger.append(record(number))
    assert await store.provenance.latest("default", "letters", limit=5) == []
    found = await store.provenance.latest("default", "invoices", limit=5)
    assert [one.id for one in found] == ["d4", "d3", "d2"]


async def test_a_decision_has_its_place_in_the_chain(store: Store) -> None:
    """The place is that of its row; it says when the approval was used."""
    await store.ledger.append(record(1))
    await store.ledger.append(record(2))
    place = await store.provenance.place("default", "d2")
    assert place is not None
    assert place.seq == 2
    assert len(place.hash) == 32
    assert place.consumed_at is None
    assert await store.ledger.consume("default", "d2", NOON)
    used = await store.provenance.place("default", "d2")
    assert used is not None
    assert used.consumed_at == NOON
    assert await store.provenance.place("another", "d2") is None
