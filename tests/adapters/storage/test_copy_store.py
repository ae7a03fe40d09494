"""A copy between stores of any kind is the same store, or says that it is not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from sureline.adapters.storage.copy_store import CopyReport, copy_store
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.registry import Activation
from sureline.core.values.outcome import Action
from sureline.errors import Refused
from tests.adapters.storage.samples import MEASUREMENT, NOON, outcome, record, switch
from tests.postgres import Postgres

KINDS = [("file", "postgres"), ("postgres", "file"), ("file", "file"), ("postgres", "postgres")]


@pytest.fixture(params=KINDS, ids=["-".join(pair) for pair in KINDS])
def urls(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres) -> tuple[str, str]:
    """Name a store to copy and one to copy to."""
    made = {
        "file": lambda name: f"sqlite:///{tmp_path / name}",
        "postgres": lambda _: postgres.database(),
    }
    source, target = request.param
    return made[source]("from.db"), made[target]("to.db")


async def _fill(store: Store) -> None:
    """Write rows of many kinds, an erasure and a text that is hard to carry over."""
    for number in range(1, 8):
        await store.ledger.append(record(number, answer=b"\x00\xff\xfe" + b"x" * number))
    await store.ledger.record_outcome(
        outcome("o1", "d2", comment="caf\u00e9 \U0001f600 about Acme")
    )
    await store.ledger.record_outcome(outcome("o2", "d1", action=Action.REJECT, correct=False))
    await store.ledger.set_switch(switch())
    await store.registry.propose_policy("p" * 64, '{"version": 1}', NOON)
    await store.registry.activate(
        Activation(workspace="default", kind="policy", subject="p" * 64, by="kim", at=NOON)
    )
    await store.ledger.erase("default", "d3", by="kim", reason="asked", at=NOON)


async def _copied(source: Store, target: Store) -> CopyReport:
    rows: list[int] = []
    report = await copy_store(source, target, progress=rows.append)
    assert sum(rows) == sum(report.rows.values())
    return report


async def test_a_copy_is_the_same_store(urls: tuple[str, str]) -> None:
    """Chain, labels, secret and what is active are the same, and both go on from there."""
    source, target = map(open_store, urls)
    await _fill(source)
    report = await _copied(source, target)
    assert report.problem is None
    target.close()
    target = open_store(urls[1])
    assert target.secret == source.secret
    counted = [
        await one.ledger.label_counts("default", "invoices", MEASUREMENT)
        for one in (source, target)
    ]
    assert counted[0] == counted[1]
    assert await source.ledger.switches("default") == await target.ledger.switches("default")
    before = await source.ledger.verify()
    assert (await target.ledger.verify()) == before
    # What comes after the copy is newer than what was copied, wherever it goes.
    await target.ledger.set_switch(switch(on=False, changed_at=NOON + timedelta(hours=1)))
    assert await target.ledger.switches_on("default", "invoices", None) == []
    await target.ledger.append(record(20))
    await target.ledger.record_outcome(outcome("o9", "d1", action=Action.APPROVE, correct=True))
    after = await target.ledger.verify(expected=before.head)
    assert (after.fault, after.rows) == (None, before.rows + 3)
    source.close()
    target.close()


async def test_only_an_empty_store_is_copied_to(urls: tuple[str, str]) -> None:
    """What is there is not mixed with what is copied, and nothing is half-written."""
    source, target = map(open_store, urls)
    await _fill(source)
    await target.ledger.append(record(99))
    with pytest.raises(Refused, match="not empty"):
        await _copied(source, target)
    assert (await target.ledger.verify()).rows == 1
    source.close()
    target.close()


async def test_a_source_that_does_not_hold_makes_no_copy_to_use(tmp_path: Path) -> None:
    """What was tampered with before is found in the copy."""
    source = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    target = open_store(f"sqlite:///{tmp_path / 'b.db'}")
    await _fill(source)

    def tamper(transaction: object) -> None:
        run = transaction.run  # type: ignore[attr-defined]
        run(Statement(text("DROP TRIGGER decisions_no_update")))
        run(Statement(text("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd4'")))

    await source.database.write(tamper)
    report = await _copied(source, target)
    assert report.problem is not None
    assert "does not verify" in report.problem
    source.close()
    target.close()
