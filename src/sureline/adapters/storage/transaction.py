"""One write transaction: rows in, linked into the hash chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert as upsert

from sureline.adapters.storage.statement import Statement, compiled, insertion
from sureline.adapters.storage.tables import CHAINED, heads
from sureline.core.chain import ZERO, FieldValue, Head, canonical_fields, row_hash

STREAM = "sqlite"
"""The one stream of a SQLite store (docs/decisions/0003-one-stream-on-sqlite.md)."""

_HEAD = compiled(select(heads.c.seq, heads.c.hash).where(heads.c.stream == bindparam("stream")))
_insert_head = upsert(heads)
_SET_HEAD = compiled(
    _insert_head.on_conflict_do_update(
        index_elements=[heads.c.stream],
        set_={"seq": _insert_head.excluded.seq, "hash": _insert_head.excluded.hash},
    )
)
_INSERT = {kind: insertion(table) for kind, table in CHAINED.items()}

Row = Sequence[Any]


def lenient(data: bytes) -> str:
    """Read a stored text whatever its bytes: a tampered one must reach who looks for tampering."""
    return data.decode("utf-8", "surrogateescape")


class Connection(Protocol):
    """What is used of a driver's connection."""

    text_factory: Any

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any:
        """Run one statement and return a cursor."""

    def executemany(self, sql: str, parameters: Sequence[Row], /) -> Any:
        """Run one statement for many rows."""


class Transaction:
    """Reads and writes inside one transaction; used by the writer's thread only.

    The head of the chain is read at first use, after the write lock is held, and written once at
    the end. A job that erased something sets `scrub`, so that no copy stays in a log.
    """

    __slots__ = ("_connection", "_head", "_moved", "scrub")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._head: Head | None = None
        self._moved = False
        self.scrub = False

    @property
    def head(self) -> Head:
        """Return where the chain stands, rows of this transaction included."""
        if self._head is None:
            row = self.first(_HEAD, (STREAM,))
            self._head = Head() if row is None else Head(seq=row[0], hash=row[1])
        return self._head

    def all(self, statement: Statement, parameters: Row = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        rows: list[tuple[Any, ...]] = self._connection.execute(statement.sql, parameters).fetchall()
        return rows

    def first(self, statement: Statement, parameters: Row = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        rows = self.all(statement, parameters)
        return rows[0] if rows else None

    def each(self, statement: Statement, parameters: Row = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, texts of any bytes included."""
        usual, self._connection.text_factory = self._connection.text_factory, lenient
        try:
            yield from self._connection.execute(statement.sql, parameters)
        finally:
            self._connection.text_factory = usual

    def run(self, statement: Statement, parameters: Row = ()) -> int:
        """Run a statement and return how many rows it touched."""
        count: int = self._connection.execute(statement.sql, parameters).rowcount
        return count

    def run_many(self, statement: Statement, rows: Sequence[Row]) -> None:
        """Run a statement once per row."""
        if rows:
            self._connection.executemany(statement.sql, rows)

    def link(
        self,
        kind: str,
        fields: Mapping[str, FieldValue],
        *,
        body: bytes = b"",
        payload_digest: bytes | None = None,
    ) -> Head:
        """Give the next row its place in the chain: its `seq` and `hash`."""
        before = self.head
        seq = before.seq + 1
        digest = row_hash(
            before.hash,
            canonical_fields(STREAM, seq, kind, fields),
            body,
            payload_digest or ZERO,
        )
        self._head = Head(seq=seq, hash=digest)
        self._moved = True
        return self._head

    def chain(
        self,
        kind: str,
        fields: Mapping[str, FieldValue],
        *,
        body: bytes = b"",
        payload_digest: bytes | None = None,
    ) -> Head:
        """Link one row of a ledger table and insert it."""
        head, row = self._linked(kind, fields, body, payload_digest)
        self.run(_INSERT[kind], row)
        return head

    def chain_many(self, kind: str, rows: Sequence[Mapping[str, FieldValue]]) -> list[Head]:
        """Link rows without body and payload, in this order, and insert them together."""
        linked = [self._linked(kind, fields, b"", None) for fields in rows]
        self.run_many(_INSERT[kind], [row for _, row in linked])
        return [head for head, _ in linked]

    def _linked(
        self,
        kind: str,
        fields: Mapping[str, FieldValue],
        body: bytes,
        payload_digest: bytes | None,
    ) -> tuple[Head, Row]:
        """Link a row and return it in the order of its table's columns."""
        head = self.link(kind, fields, body=body, payload_digest=payload_digest)
        place = {
            "stream": STREAM,
            "seq": head.seq,
            "hash": head.hash,
            "body": body,
            "payload_digest": payload_digest,
        }
        return head, _INSERT[kind].row({**place, **fields})

    def seal(self) -> None:
        """Write the head down; the last thing before the commit."""
        if self._moved and self._head is not None:
            self.run(_SET_HEAD, (STREAM, self._head.seq, self._head.hash))
