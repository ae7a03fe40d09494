"""Where a store's ledger stands, and whether it runs through what was stated earlier."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import bindparam, select, union_all

from sureline.adapters.storage.chain_reader import recorded_heads
from sureline.adapters.storage.database import Fetch
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store
from sureline.adapters.storage.tables import CHAINED
from sureline.core.signed_head import HeadsMet, HeadStatement, store_identity

_HASH_AT = compiled(
    union_all(
        *(
            select(table.c.hash).where(
                table.c.stream == bindparam(f"{kind}_stream"),
                table.c.seq == bindparam(f"{kind}_seq"),
            )
            for kind, table in CHAINED.items()
        )
    )
)
"""The hashes of all rows at one place; one, unless somebody put a second there."""


def hash_at(fetch: Fetch, stream: str, seq: int) -> Iterator[bytes]:
    """Yield the hashes of the rows at a place."""
    for (digest,) in fetch(_HASH_AT, (stream, seq) * len(CHAINED)):
        yield bytes(digest)


def state_heads(store: Store, at: datetime) -> HeadStatement:
    """State the heads of all streams, as of one moment. Raises StoreError."""
    with store.database.snapshot() as each:
        heads = recorded_heads(lambda statement, parameters: list(each(statement, parameters)))
    return HeadStatement(store=store_identity(store.secret), at=at, heads=heads)


def heads_met(store: Store, statement: HeadStatement) -> HeadsMet:
    """Look up the rows that a statement names; that the chain holds is verified elsewhere."""
    met = HeadsMet(statement)
    with store.database.reader() as fetch:
        for stream, head in recorded_heads(fetch).items():
            met.reach(stream, head.seq)
        for stream, head in statement.heads.items():
            for digest in hash_at(fetch, stream, head.seq):
                met.look(stream, head.seq, digest)
    return met
