"""Seals: one row of the common stream that commits to where all other streams stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, literal_column, select

from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import heads, seals
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.core.chain import Head, heads_in, seal_body

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]

OTHER_STREAMS = compiled(
    select(heads.c.stream, heads.c.seq, heads.c.hash)
    .where(heads.c.stream != bindparam("common_stream"))
    .order_by(heads.c.stream)
)
"""Where all streams but the common one stand."""
_LAST = compiled(
    select(seals.c.body)
    .order_by(seals.c.seq.desc())
    .limit(literal_column("1"))
    .offset(literal_column("0"))
)


_UP_TO = compiled(
    select(seals.c.body)
    .where(seals.c.stream == bindparam("common_stream"), seals.c.seq <= bindparam("until"))
    .order_by(seals.c.seq.desc())
    .limit(literal_column("1"))
    .offset(literal_column("0"))
)


def sealed_until(fetch: Fetch, until: int) -> Mapping[str, Head]:
    """Return where the streams stood at the last seal up to a row of the common stream.

    A seal names every stream that there was, so that the last one is enough.
    """
    rows = fetch(_UP_TO, (COMMON_STREAM, until))
    return heads_in(bytes(rows[0][0])) if rows else {}


@dataclass(frozen=True, slots=True)
class Seal:
    """The job of sealing; rows that no seal covers yet could be cut off unseen."""

    at: datetime

    def __call__(self, transaction: Transaction) -> bool:
        """Seal if a stream moved since the last seal; tell whether."""
        rows = transaction.all(OTHER_STREAMS, (transaction.stream_of("seal"),))
        standing = {row[0]: Head(seq=row[1], hash=bytes(row[2])) for row in rows}
        body = seal_body(standing)
        last = transaction.first(_LAST)
        if not standing or (last is not None and bytes(last[0]) == body):
            return False
        transaction.chain("seal", {"workspace": "", "sealed_at": to_micros(self.at)}, body=body)
        return True
