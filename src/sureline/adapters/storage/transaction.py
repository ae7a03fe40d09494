"""One write transaction: rows in, linked into the hash chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.statement import Statement, compiled, insertion
from sureline.adapters.storage.tables import CHAINED, heads
from sureline.core.chain import ZERO, FieldValue, Head, canonical_fields, row_hash
from sureline.errors import StoreCorrupt

COMMON_STREAM = "common"
"""The stream of all ledger rows but decisions, and of those on SQLite too."""

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


class Driver(Protocol):
    """A connection that is in a transaction, with the streams of the chain that it may extend."""

    own_stream: str
    """Decisions go in here: no other writer uses it."""
    common_stream: str
    """All other rows go in here, so that their places are their order; under the write lock."""

    def execute(self, statement: Statement, parameters: Row = ..., /) -> Any:
        """Run one statement and return a cursor."""

    def executemany(self, statement: Statement, rows: Sequence[Row], /) -> Any:
        """Run one statement for many rows."""

    def each(self, statement: Statement, parameters: Row, /) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, texts of any bytes included."""


class Transaction:
    """Reads and writes inside one transaction; used by the writer's thread only.

    The head of a stream is read at first use, when nobody else may write it, and written once at
    the end. A job that erased something sets `scrub`, so that no copy stays in a log. `to_tell`
    are the workspaces in which something is new in the outbox.
    """

    __slots__ = ("_driver", "_heads", "_moved", "scrub", "to_tell")

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._heads: dict[str, Head] = {}
        self._moved: set[str] = set()
        self.scrub = False
        self.to_tell: set[str] = set()

    @property
    def own_stream(self) -> str:
        """Return the stream that decisions are written to."""
        return self._driver.own_stream

    def stream_of(self, kind: str) -> str:
        """Return the stream that rows of a ledger table are written to."""
        return self._driver.own_stream if kind == "decision" else self._driver.common_stream

    def head(self, stream: str) -> Head:
        """Return where a stream stands, rows of this transaction included."""
        if stream not in self._heads:
            row = self.first(_HEAD, (stream,))
            self._heads[stream] = Head() if row is None else Head(seq=row[0], hash=row[1])
        return self._heads[stream]

    def all(self, statement: Statement, parameters: Row = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        rows: list[tuple[Any, ...]] = self._driver.execute(statement, parameters).fetchall()
        return rows

    def first(self, statement: Statement, parameters: Row = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        rows = self.all(statement, parameters)
        return rows[0] if rows else None

    def each(self, statement: Statement, parameters: Row = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, texts of any bytes included."""
        return self._driver.each(statement, parameters)

    def run(self, statement: Statement, parameters: Row = ()) -> int:
        """Run a statement and return how many rows it touched."""
        count: int = self._driver.execute(statement, parameters).rowcount
        return count

    def run_many(self, statement: Statement, rows: Sequence[Row]) -> None:
        """Run a statement once per row."""
        if rows:
            self._driver.executemany(statement, rows)

    def insert(self, statement: Statement, rows: Sequence[Row]) -> None:
        """Insert rows, every one of them. Raises StoreCorrupt if the database keeps fewer.

        A trigger or a rule can swallow rows without an error; whoever turned a switch must know.
        """
        if not rows:
            return
        kept = (
            self._driver.execute(statement, rows[0])
            if len(rows) == 1
            else self._driver.executemany(statement, rows)
        ).rowcount
        if kept != len(rows):
            raise StoreCorrupt(
                f"the database kept {kept} of {len(rows)} rows without an error, so nothing was "
                f"written: a trigger or a rule in it is not sureline's (`sureline ledger verify`)"
            )

    def link(
        self,
        kind: str,
        fields: Mapping[str, FieldValue],
        *,
        body: bytes = b"",
        payload_digest: bytes | None = None,
    ) -> Head:
        """Give the next row its place in the chain: its `seq` and `hash`."""
        stream = self.stream_of(kind)
        before = self.head(stream)
        seq = before.seq + 1
        digest = row_hash(
            before.hash,
            canonical_fields(stream, seq, kind, fields),
            body,
            payload_digest or ZERO,
        )
        self._heads[stream] = Head(seq=seq, hash=digest)
        self._moved.add(stream)
        return self._heads[stream]

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
        self.insert(_INSERT[kind], [row])
        return head

    def chain_many(self, kind: str, rows: Sequence[Mapping[str, FieldValue]]) -> list[Head]:
        """Link rows without body and payload, in this order, and insert them together."""
        linked = [self._linked(kind, fields, b"", None) for fields in rows]
        self.insert(_INSERT[kind], [row for _, row in linked])
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
            "stream": self.stream_of(kind),
            "seq": head.seq,
            "hash": head.hash,
            "body": body,
            "payload_digest": payload_digest,
        }
        return head, _INSERT[kind].row({**place, **fields})

    def seal(self) -> None:
        """Write the heads down; the last thing before the commit."""
        for stream in sorted(self._moved):
            head = self._heads[stream]
            self.insert(_SET_HEAD, [(stream, head.seq, head.hash)])
