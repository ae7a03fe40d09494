"""Reads the ledger row by row as the chain sees it, to verify or export it.

Rows are read in pages, each in its own short transaction: a long one would keep SQLite's
write-ahead log from being emptied.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Table, and_, bindparam, func, literal_column, null, select

from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import CHAINED, heads, payloads
from sureline.adapters.storage.transaction import STREAM
from sureline.core.chain import ZERO, ChainRow, FieldValue, Head, Payload
from sureline.core.chain_export import export_line
from sureline.core.chain_verification import ChainReport, ChainVerifier, PayloadTally

PAGE = 500
"""Places in the chain that are read at once."""

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]

_NOT_FIELDS = frozenset({"stream", "seq", "hash", "body", "payload_digest"})


class _KindReader:
    """Reads the rows of one ledger table."""

    def __init__(self, kind: str, table: Table) -> None:
        self._kind = kind
        self._names = [c.name for c in table.columns if c.name not in _NOT_FIELDS]
        columns = table.columns
        has_payload = "payload_digest" in columns
        source = table.outerjoin(
            payloads,
            and_(payloads.c.stream == table.c.stream, payloads.c.seq == table.c.seq),
        )
        self._page = compiled(
            select(
                table.c.seq,
                table.c.hash,
                columns["body"] if "body" in columns else null(),
                columns["payload_digest"] if has_payload else null(),
                *(
                    (payloads.c.salt, payloads.c.answer, payloads.c.request)
                    if has_payload
                    else (null(), null(), null())
                ),
                *(columns[name] for name in self._names),
            )
            .select_from(source if has_payload else table)
            .where(
                table.c.stream == bindparam("in_stream"),
                table.c.seq > bindparam("after"),
                table.c.seq <= bindparam("until"),
            )
            .order_by(table.c.seq)
        )

    def read(self, fetch: Fetch, after: int, until: int) -> Iterator[ChainRow]:
        """Return the rows with after < seq <= until, in order."""
        for row in fetch(self._page, (STREAM, after, until)):
            yield self._chain_row(row)

    def _chain_row(self, row: Sequence[Any]) -> ChainRow:
        seq, digest, body, payload_digest, salt, answer, request = row[:7]
        fields = dict(zip(self._names, map(_field, row[7:]), strict=True))
        return ChainRow(
            stream=STREAM,
            seq=seq,
            kind=self._kind,
            fields=fields,
            body=_blob(body),
            payload_digest=_blob(payload_digest) or ZERO,
            hash=_blob(digest),
            payload=None
            if salt is None
            else Payload(salt=_blob(salt), answer=_blob(answer), request=_blob(request)),
        )


_READERS = tuple(_KindReader(kind, table) for kind, table in CHAINED.items())

_END = compiled(
    select(
        select(heads.c.seq)
        .where(heads.c.stream == literal_column(f"'{STREAM}'"))
        .scalar_subquery(),
        select(heads.c.hash)
        .where(heads.c.stream == literal_column(f"'{STREAM}'"))
        .scalar_subquery(),
        *(
            select(func.coalesce(func.max(table.c.seq), literal_column("0")))
            .where(table.c.stream == literal_column(f"'{STREAM}'"))
            .scalar_subquery()
            for table in CHAINED.values()
        ),
    )
)
"""The recorded head and the last row of each table, as of one moment."""


def chain_end(fetch: Fetch) -> tuple[Head, int]:
    """Return where the store says that the chain ends, and the last row that there is."""
    seq, digest, *last = fetch(_END, ())[0]
    head = Head() if seq is None else Head(seq=seq, hash=_blob(digest))
    return head, max(last)


def chain_rows(fetch: Fetch, *, after: int, until: int) -> Iterator[ChainRow]:
    """Read all ledger rows with after < seq <= until, in the order of the chain."""
    while after < until:
        end = min(after + PAGE, until)
        yield from heapq.merge(
            *(reader.read(fetch, after, end) for reader in _READERS), key=lambda row: row.seq
        )
        after = end


def verify(fetch: Fetch, *, start: Head | None, expected: Head | None) -> ChainReport:
    """Verify the chain up to its end at the time of the call, or a little further.

    A payload that was erased while we read is explained by a row beyond that end, so we read on
    until nothing that is missing could still be explained.
    """
    verifier = ChainVerifier(STREAM, start=start, expected=expected)
    after = 0 if start is None else start.seq
    while True:
        head, last = chain_end(fetch)
        until = max(head.seq, last)
        intact = all(map(verifier.add, chain_rows(fetch, after=after, until=until)))
        if not intact or after == until or not verifier.payloads.unexplained:
            return verifier.finish(head)
        after = until


def export(fetch: Fetch, *, payloads: bool) -> Iterator[str]:
    """Write the chain up to its present end, one line of JSON per row.

    Like `verify`, it goes on until every erasure that was met on the way is in.
    """
    tally = PayloadTally()
    after = 0
    while True:
        head, _ = chain_end(fetch)
        for row in chain_rows(fetch, after=after, until=head.seq):
            tally.add(row)
            yield export_line(row if payloads else _without_payload(row))
        if after == head.seq or not tally.unexplained:
            return
        after = head.seq


def _without_payload(row: ChainRow) -> ChainRow:
    return row if row.payload is None else replace(row, payload=None, payload_omitted=True)


def _field(value: Any) -> FieldValue:
    """Return the value as the chain hashed it: bytes in hexadecimal."""
    if isinstance(value, bytes):
        return value.hex()
    result: FieldValue = value
    return result


def _blob(value: Any) -> bytes:
    """Read a stored value of any type as bytes: a tampered one must not stop the verifier."""
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
