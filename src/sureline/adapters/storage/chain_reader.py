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
from sureline.core.chain import ZERO, ChainRow, FieldValue, Head, Payload
from sureline.core.chain_export import export_line
from sureline.core.chain_verification import ChainReport, PayloadTally
from sureline.core.ledger_verification import LedgerVerifier

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

    def read(self, fetch: Fetch, stream: str, after: int, until: int) -> Iterator[ChainRow]:
        """Return the rows of a stream with after < seq <= until, in order."""
        for row in fetch(self._page, (stream, after, until)):
            yield self._chain_row(stream, row)

    def _chain_row(self, stream: str, row: Sequence[Any]) -> ChainRow:
        seq, digest, body, payload_digest, salt, answer, request = row[:7]
        fields = dict(zip(self._names, map(_field, row[7:]), strict=True))
        return ChainRow(
            stream=stream,
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

_HEADS = compiled(select(heads.c.stream, heads.c.seq, heads.c.hash))
_LAST = compiled(
    select(
        *(
            select(func.coalesce(func.max(table.c.seq), literal_column("0")))
            .where(table.c.stream == bindparam("stream"))
            .scalar_subquery()
            for table in CHAINED.values()
        ),
    )
)
"""The last row of each table in a stream."""


def recorded_heads(fetch: Fetch) -> dict[str, Head]:
    """Return where the store says that its streams end."""
    return {stream: Head(seq=seq, hash=_blob(digest)) for stream, seq, digest in fetch(_HEADS, ())}


def chain_rows(fetch: Fetch, stream: str, *, after: int, until: int) -> Iterator[ChainRow]:
    """Read a stream's ledger rows with after < seq <= until, in the order of the chain."""
    while after < until:
        end = min(after + PAGE, until)
        yield from heapq.merge(
            *(reader.read(fetch, stream, after, end) for reader in _READERS),
            key=lambda row: row.seq,
        )
        after = end


def verify(
    fetch: Fetch, common_stream: str, *, start: Head | None, expected: Head | None
) -> ChainReport:
    """Verify all streams up to their ends at the time of the call, or a little further.

    A payload that was erased while we read is explained by a row beyond that end, so we read on
    until nothing that is missing could still be explained.
    """
    ledger = LedgerVerifier(common_stream, start=start, expected=expected)
    while True:
        known, moved = recorded_heads(fetch), False
        for stream in (common_stream, *sorted({*known, *ledger.sealed} - {common_stream})):
            chain = ledger.chain(stream)
            before = chain.seq
            last = max(fetch(_LAST, (stream,) * len(CHAINED))[0])
            known[stream] = recorded_heads(fetch).get(stream, Head())
            until = max(known[stream].seq, last)
            if not all(map(chain.add, chain_rows(fetch, stream, after=before, until=until))):
                return ledger.finish(known)
            moved |= chain.seq > before
        if not moved or not ledger.payloads.unexplained:
            return ledger.finish(known)


def export(fetch: Fetch, common_stream: str, *, payloads: bool) -> Iterator[str]:
    """Write all streams up to their present ends, one line of JSON per row.

    Like `verify`, it goes on until every erasure that was met on the way is in.
    """
    tally = PayloadTally()
    written: dict[str, int] = {}
    while True:
        moved = False
        for stream in (common_stream, *sorted({*recorded_heads(fetch)} - {common_stream})):
            after, until = written.get(stream, 0), recorded_heads(fetch).get(stream, Head()).seq
            for row in chain_rows(fetch, stream, after=after, until=until):
                tally.add(row)
                yield export_line(row if payloads else _without_payload(row))
            written[stream] = until
            moved |= until > after
        if not moved or not tally.unexplained:
            return


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
