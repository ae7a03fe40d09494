"""Which vector a past case has is decided by what is chained, not by what stands beside it."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, delete, update

from sureline.adapters.storage.past_cases import vector_for
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store
from sureline.adapters.storage.tables import payloads, vectors
from sureline.bootstrap.histories import check_cases
from sureline.bootstrap.plugins import Plugins
from sureline.core.chain import vector_digest
from tests.adapters.storage.samples import MODEL, NOON, outcome, record

OWN, ANEW = bytes(range(64)), bytes(range(64, 128))
UNIT = b"\x00\x00\x80\x3f" + bytes(12)
SALT = b"salt"


async def taught(store: Store, *models: str) -> None:
    """Let a person reject a case of each of these models."""
    for number, model_id in enumerate(models):
        await store.ledger.append(record(number, vector=UNIT, model_id=model_id))
        await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}", correct=False))


DAMAGE = {
    "renamed": update(vectors).values(model_id=bindparam("other")),
    "exchanged": update(vectors).values(vector=bindparam("turned")),
    "deleted": delete(vectors),
    "their salts deleted": delete(payloads),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("reader", [MODEL, "later"])
async def test_a_case_whose_vector_is_not_proven_is_no_case_of_another_model(
    store: Store, damage: object, reader: str
) -> None:
    """It comes back without a vector, whichever model asks; the check says that it is missing."""
    await taught(store, MODEL, MODEL)
    assert (await check_cases(store, Plugins())).ok
    statement = compiled(damage)  # type: ignore[arg-type]
    parameters = statement.row({"other": "other", "turned": UNIT[::-1]})
    await store.database.write(lambda transaction: transaction.run(statement, parameters))
    found = await store.ledger.cases_since(0, reader)
    assert [(one.decision_id, one.model_id, one.vector) for one in found] == [
        ("d0", reader, b""),
        ("d1", reader, b""),
    ]
    report = await check_cases(store, Plugins())
    assert (report.ok, report.cases, report.expected) == (False, 0, 2)


async def test_cases_of_an_earlier_model_are_left_out_and_read_once(store: Store) -> None:
    """After a change of model they are no holes; the last one says up to where there are none."""
    await taught(store, "older", "older")
    (last,) = await store.ledger.cases_since(0, MODEL)
    assert (last.decision_id, last.model_id, last.vector) == ("d1", "older", b"")
    assert await store.ledger.cases_since(last.cursor, MODEL) == []
    report = await check_cases(store, Plugins())
    assert (report.ok, report.cases, report.expected) == (True, 2, 2)


async def test_an_erased_case_is_no_hole(store: Store) -> None:
    """What is gone with an erasure on record is gone for good reason."""
    await taught(store, MODEL, MODEL)
    for name in ("d0", "d1"):
        await store.ledger.erase("default", name, by="kim", reason="asked", at=NOON)
    report = await check_cases(store, Plugins())
    assert (report.ok, report.cases, report.expected) == (True, 0, 0)


def proof(model_id: str, vector: bytes) -> bytes:
    return vector_digest(SALT, model_id, vector)


VECTORS = {
    "its own": ((OWN, "new", SALT, proof("new", OWN), None, None), OWN),
    "another model's": ((OWN, "old", SALT, proof("old", OWN), None, None), None),
    "made anew": ((OWN, "old", SALT, proof("old", OWN), ANEW, proof("new", ANEW)), ANEW),
    "made anew, damaged": ((OWN, "old", SALT, proof("old", OWN), OWN, proof("new", ANEW)), b""),
    "renamed": ((OWN, "old", SALT, proof("new", OWN), None, None), b""),
    "renamed, made anew": ((OWN, "old", SALT, proof("new", OWN), ANEW, proof("new", ANEW)), b""),
    "missing, made anew": ((None, None, SALT, proof("old", OWN), ANEW, proof("new", ANEW)), b""),
    "without a digest": ((OWN, "new", SALT, None, None, None), b""),
    "without a salt": ((OWN, "new", None, proof("new", OWN), None, None), b""),
}


@pytest.mark.parametrize(("stored", "expected"), VECTORS.values(), ids=VECTORS)
def test_a_vector_is_used_if_the_chain_proves_it(stored: tuple, expected: bytes | None) -> None:
    """None is a case of another model; nothing is a hole, which one made anew does not cover."""
    assert vector_for("new", *stored) == expected
