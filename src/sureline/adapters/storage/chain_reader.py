"""Reads the ledger row by row as the chain sees it, to verify or export it.

Rows are read in pages, each in its own short transaction: a long one would keep SQLite's
write-ahead log from being emptied.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
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


def _of_each_table(number: Any, otherwise: int) -> Statement:
    """Select a number of a stream's rows in each table, something else where it has none."""
    return compiled(
        select(
            *(
                select(func.coalesce(number(table.c.seq), literal_column(str(otherwise))))
                .where(table.c.stream == bindparam("stream"))
                .scalar_subquery()
                for table in CHAINED.values()
            ),
        )
    )


_FIRST, _LAST = _of_each_table(func.min, 1), _of_each_table(func.max, 0)
_NEXT_STREAMS = compiled(
    select(
        *(
            select(func.min(table.c.stream))
            .where(table.c.stream >= bindparam("at_least"))
            .scalar_subquery()
            for table in CHAINED.values()
        ),
    )
)


def recorded_heads(fetch: Fetch) -> dict[str, Head]:
    """Return where the store says that its streams end."""
    return {stream: Head(seq=seq, hash=_blob(digest)) for stream, seq, digest in fetch(_HEADS, ())}


def streams_with_rows(fetch: Fetch) -> Iterator[str]:
    """Yield every stream that has rows, whether the store has a head of it or not."""
    at_least = ""
    while found := [
        name for name in fetch(_NEXT_STREAMS, (at_least,) * len(CHAINED))[0] if name is not None
    ]:
        stream = min(map(str, found))
        yield stream
        at_least = f"{stream}\x01"


def chain_pages(
    fetch: Fetch, stream: str, *, after: int, until: int
) -> Iterator[Iterator[ChainRow]]:
    """Read a stream's ledger rows with after < seq <= until, in the order of the chain."""
    while after < until:
        end = min(after + PAGE, until)
        yield heapq.merge(
            *(reader.read(fetch, stream, after, end) for reader in _READERS),
            key=lambda row: row.seq,
        )
        after = end


def verify(
    fetch: Fetch, common_stream: str, *, start: Head | None, expected: Head | None
) -> ChainReport:
    """Verify all streams up to their ends at the time of the call, or a little further."""
    since = None if start is None else {common_stream: start}
    ledger = LedgerVerifier(common_stream, expected=expected, since=since)
    return next(found for found in verifying(fetch, common_stream, ledger) if found is not None)


def verifying(
    fetch: Fetch, common_stream: str, ledger: LedgerVerifier
) -> Iterator[ChainReport | None]:
    """Verify page by page: yields None after each, and at last the report.

    A payload that was erased while we read is explained by a row beyond that end, so we read on
    until nothing that is missing could still be explained.
    """
    while True:
        known, moved = recorded_heads(fetch), False
        others = {*known, *ledger.named, *streams_with_rows(fetch)} - {common_stream}
        for stream in (common_stream, *sorted(others)):
            verifier = ledger.chain(stream)
            before = verifier.seq
            first, last, known[stream] = _ends(fetch, stream)
            until = max(known[stream].seq, last)
            for page in chain.from_iterable(
                (
                    # None has a number below 1, so the first that does is one too many.
                    chain_pages(fetch, stream, after=first - 1, until=min(first, 0)),
                    chain_pages(fetch, stream, after=before, until=until),
                )
            ):
                if not all(map(verifier.add, page)):
                    yield ledger.finish(known)
                    return
                yield None
            moved |= verifier.seq > before
        if not moved or not ledger.payloads.unexplained:
            yield ledger.finish(known)
            return


def _ends(fetch: Fetch, stream: str) -> tuple[int, int, Head]:
    """Return a stream's first number, its last, and then what the store says is its head."""
    first, last = (fetch(of, (stream,) * len(CHAINED))[0] for of in (_FIRST, _LAST))
    return min(first), max(last), recorded_heads(fetch).get(stream, Head())


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
            for row in chain.from_iterable(chain_pages(fetch, stream, after=after, until=until)):
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
