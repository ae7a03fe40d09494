"""A statement commits to every stream, whatever the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from sureline.adapters.storage.stated_heads import heads_met, state_heads
from sureline.adapters.storage.store import open_store
from sureline.core.chain import Head
from sureline.core.chain_export import verify_export
from sureline.core.signed_head import HeadsMet, HeadStatement
from tests.adapters.storage.samples import NOON, record, switch
from tests.postgres import Postgres


@pytest.fixture(params=["file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres) -> str:
    """Name a store of either kind."""
    return f"sqlite:///{tmp_path / 's.db'}" if request.param == "file" else postgres.database()


async def test_all_streams_are_stated_and_met(url: str) -> None:
    """Also where a writer's stream is not sealed yet, and by an export with its seals."""
    store = open_store(url)
    for number in range(3):
        await store.ledger.append(record(number))
    await store.ledger.set_switch(switch())
    stated = state_heads(store, NOON)
    assert stated.rows == 4
    await store.ledger.append(record(9))
    await store.ledger.seal(NOON)
    await store.ledger.append(record(10))
    assert heads_met(store, stated).faults() == ()
    for payloads in (True, False):
        met = HeadsMet(stated)
        report = verify_export(store.ledger.export(payloads=payloads), seen=met.add)
        assert (report.ok, met.faults()) == (True, ())
    for stream, head in stated.heads.items():
        wrong = {**stated.heads, stream: Head(seq=head.seq, hash=b"x" * 32)}
        ahead = {**stated.heads, stream: Head(seq=head.seq + 9, hash=head.hash)}
        for heads, sentence in ((wrong, "another hash"), (ahead, "before the stated head")):
            other = HeadStatement(store=stated.store, at=NOON, heads=heads)
            (fault,) = heads_met(store, other).faults()
            assert sentence in fault
            assert repr(stream) in fault
    store.close()


def test_a_copy_has_the_same_identity_and_another_store_has_not(tmp_path: Path) -> None:
    """The identity follows from the store's secret, which a copy has too."""
    one, two = (open_store(f"sqlite:///{tmp_path / name}") for name in ("a.db", "b.db"))
    assert state_heads(one, NOON).store == state_heads(one, NOON).store
    assert state_heads(one, NOON).store != state_heads(two, NOON).store
    assert one.secret.hex() not in state_heads(one, NOON).text()
    one.close()
    two.close()
