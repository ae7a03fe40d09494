"""The rows of the ledger that belong to a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import bindparam, func, select, union_all

from sureline.adapters.storage.chain_reader import chain_pages
from sureline.adapters.storage.database import Fetch
from sureline.adapters.storage.stated_heads import hash_at
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import CHAINED
from sureline.core.chain import ChainRow, Head
from sureline.core.evidence import MOMENTS, Period
from sureline.core.evidence_manifest import Stretch

_SPANS = compiled(
    union_all(
        *(
            select(table.c.stream, func.min(table.c.seq), func.max(table.c.seq))
            .where(
                table.c[MOMENTS[kind]] >= bindparam(f"{kind}_first"),
                table.c[MOMENTS[kind]] < bindparam(f"{kind}_end"),
            )
            .group_by(table.c.stream)
            for kind, table in CHAINED.items()
        )
    )
)
"""The first and last row of each table in each stream, of those made in a period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRows:
    """Reads through an open reader; see the port `PeriodSource`."""

    fetch: Fetch
    store: str

    def stretches(self, period: Period) -> Mapping[str, Stretch]:
        """Return which part of each stream holds all rows of a period, and maybe others.

        Rows are not always in the order of their times: a log that was imported has earlier ones.
        """
        spans: dict[str, tuple[int, int]] = {}
        moments = (period.first_micros, period.end_micros) * len(CHAINED)
        for stream, first, last in self.fetch(_SPANS, moments):
            low, high = spans.get(stream, (first, last))
            spans[stream] = (min(low, first), max(high, last))
        return {
            stream: Stretch(before=self._head(stream, low - 1), last=self._head(stream, high))
            for stream, (low, high) in sorted(spans.items())
        }

    def rows(self, stream: str, stretch: Stretch) -> Iterator[ChainRow]:
        """Yield the rows of a stretch, in order, with their payloads."""
        return chain.from_iterable(
            chain_pages(self.fetch, stream, after=stretch.before.seq, until=stretch.last.seq)
        )

    def row(self, stream: str, seq: int) -> ChainRow | None:
        """Return the row at a place, with its payload."""
        pages = chain_pages(self.fetch, stream, after=seq - 1, until=seq)
        return next(chain.from_iterable(pages), None)

    def _head(self, stream: str, seq: int) -> Head:
        if seq == 0:
            return Head()
        return Head(seq=seq, hash=next(hash_at(self.fetch, stream, seq), b""))
