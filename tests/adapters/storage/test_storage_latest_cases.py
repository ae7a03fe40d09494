"""The latest labelled cases of one slice, as reports read them."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select, update

from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store
from sureline.adapters.storage.tables import vectors
from tests.adapters.storage.samples import MODEL, NOON, outcome, record


async def _latest(store: Store, limit: int = 10, slice_key: str = "invoices") -> list[str]:
    cases = await store.cases.latest("default", slice_key, limit)
    return [case.decision_id for case in cases]


async def _label(store: Store, number: int, **changes: object) -> None:
    await store.ledger.append(record(number, **changes))
    await store.ledger.record_outcome(
        outcome(f"o{number}", f"d{number}", workspace=changes.get("workspace", "default"))
    )


async def test_the_latest_labels_come_first_and_no_more_than_asked(store: Store) -> None:
    """The limit bounds what is read; a label that changed is the latest."""
    for number in range(5):
        await _label(store, number)
    assert await _latest(store) == ["d4", "d3", "d2", "d1", "d0"]
    await store.ledger.record_outcome(outcome("again", "d1", correct=False))
    cases = await store.cases.latest("default", "invoices", 2)
    assert [(case.decision_id, case.approved) for case in cases] == [("d1", False), ("d4", True)]
    assert cases[0].vector == record(1).vector
    assert cases[0].model_id == MODEL


async def test_other_scopes_are_never_seen(store: Store) -> None:
    """Another slice's and another workspace's cases are nobody else's."""
    await _label(store, 1)
    await _label(store, 2, slice_key="letters")
    await _label(store, 3, workspace="other")
    assert await _latest(store) == ["d1"]
    assert await _latest(store, slice_key="letters") == ["d2"]
    assert await _latest(store, slice_key="none") == []


async def test_what_cannot_be_compared_is_left_out(store: Store) -> None:
    """Without a label, without a vector, of an earlier model: none of these is a case."""
    await store.ledger.append(record(1))
    await _label(store, 2, vector=None, model_id=None)
    await _label(store, 3, model_id="older")
    await _label(store, 4)
    assert await _latest(store) == ["d4"]


async def test_an_erased_case_is_gone(store: Store) -> None:
    """Its vector went with its payload."""
    for number in (1, 2):
        await _label(store, number)
    await store.ledger.erase("default", "d2", by="kim", reason="asked", at=NOON)
    assert await _latest(store) == ["d1"]


async def test_the_model_is_that_of_the_latest_proven_vector(store: Store) -> None:
    """A name that somebody changed beside the newest vector hides that case, not all others."""
    for number in (1, 2):
        await _label(store, number)
    rename = compiled(
        update(vectors).values(model_id=bindparam("name")).where(vectors.c.seq == bindparam("last"))
    )
    ((last,),) = store.database.fetch(compiled(select(func.max(vectors.c.seq))))
    given = rename.row({"name": "other", "last": last})
    await store.database.write(lambda transaction: transaction.run(rename, given))
    assert await _latest(store) == ["d1"]
