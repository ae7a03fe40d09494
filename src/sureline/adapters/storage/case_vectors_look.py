"""Looks for the best cases of a slice in PostgreSQL: exactly, or by an index that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.storage.case_vector_rows import (
    BY_ALL,
    EF,
    EXACT_BELOW,
    LEAST_RECALL,
    Row,
    as_text,
    as_vector,
    by_index,
)
from sureline.adapters.storage.postgres_driver import Connection
from sureline.application.ports.cases import BestCases, Searched
from sureline.errors import StoreCorrupt

MOST_BY_INDEX = 1_000
"""Beyond so many candidates walking the index takes longer than looking at everything."""

_STANDING = (
    "SELECT coalesce(c.cursor, 0), s.id, s.recall, s.recall_low, "
    "coalesce((SELECT indisvalid FROM pg_index "
    "WHERE indexrelid = to_regclass('case_vectors_hnsw_' || s.id)), false) "
    "FROM (SELECT 1) AS one "
    "LEFT JOIN case_cursors AS c ON c.model_id = %s AND c.dimension = %s "
    "LEFT JOIN case_scopes AS s ON s.workspace = %s AND s.slice_key = %s "
    "AND s.model_id = c.model_id AND s.dimension = c.dimension"
)
_EDGE = (
    "SELECT count(*), min(mark) FROM (SELECT mark FROM case_vectors "
    "WHERE scope = %s AND vector IS NOT NULL ORDER BY mark DESC LIMIT %s) AS latest"
)
_UNUSABLE = (
    "SELECT count(*) FROM case_vectors WHERE scope = %s AND vector IS NULL AND (mark > %s OR "
    "NOT EXISTS (SELECT 1 FROM case_vectors WHERE scope = %s AND vector IS NOT NULL AND mark < %s))"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaseQuery:
    """A search among the latest `window` cases of one slice.

    With fewer than `exact_below` of them they are all compared, whatever indexes there are.
    """

    workspace: str
    slice_key: str
    model_id: str
    dimension: int
    vector: NDArray[np.float32]
    wanted: int
    window: int
    exact_below: int = EXACT_BELOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far the table follows the ledger, the number of the slice, and its index if usable."""

    cursor: int
    scope: int | None
    recall: float | None
    recall_low: float | None
    has_index: bool

    @property
    def is_measured(self) -> bool:
        """Tell whether the index is there and was shown to find enough."""
        return self.has_index and (self.recall_low or 0.0) >= LEAST_RECALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """How many cases a window has, and the place of its oldest."""

    cases: int
    oldest: int


def standing(connection: Connection, query: CaseQuery) -> Standing:
    """Read how things stand with a slice."""
    named = (query.model_id, query.dimension, query.workspace, query.slice_key)
    row = connection.execute(_STANDING, named).fetchone()
    assert row is not None
    cursor, scope, recall, recall_low, has_index = row
    return Standing(
        cursor=cursor, scope=scope, recall=recall, recall_low=recall_low, has_index=has_index
    )


def edge_of(connection: Connection, scope: int, window: int) -> Edge:
    """Find the oldest of the latest `window` cases. Raises StoreCorrupt if one is unusable."""
    row = connection.execute(_EDGE, (scope, window)).fetchone()
    assert row is not None
    cases, oldest = row[0], row[1] or 0
    bounds = (scope, oldest, scope, oldest)
    unusable = (connection.execute(_UNUSABLE, bounds).fetchone() or (0,))[0]
    if unusable:
        raise StoreCorrupt(f"{unusable} verdicts have vectors that cannot be used")
    return Edge(cases=cases, oldest=oldest)


def look(connection: Connection, query: CaseQuery, found: Standing, edge: Edge) -> BestCases:
    """Return the best cases of a slice that has some."""
    assert found.scope is not None
    takes_index = (
        edge.cases >= query.exact_below and query.wanted <= MOST_BY_INDEX and found.is_measured
    )
    if takes_index:
        searched = Searched(how="hnsw", ef=EF, recall=found.recall, recall_low=found.recall_low)
        statement = by_index(found.scope, query.dimension)
        given: Sequence[Any] = (edge.oldest, as_text(query.vector), query.wanted)
    else:
        searched = Searched(how="exact")
        statement, place = BY_ALL, (found.scope, edge.oldest)
        given = (as_text(query.vector), *place, query.wanted, found.scope)
    rows = connection.execute(statement.encode(), given).fetchall()
    spread = None if takes_index or not rows else rows[0][4]
    is_all = not takes_index and len(rows) < query.wanted
    return _best(rows, edge, spread, searched, is_all=is_all)


def nothing(searched: Searched) -> BestCases:
    """Return that a slice has no cases."""
    return _best([], Edge(cases=0, oldest=0), None, searched, is_all=True)


def _best(
    rows: Sequence[Row], edge: Edge, spread: float | None, searched: Searched, *, is_all: bool
) -> BestCases:
    rows = sorted(rows, key=lambda row: row[0])
    return BestCases(
        ids=[row[1] for row in rows],
        approved=np.array([row[2] for row in rows], dtype=np.bool_),
        vectors=np.array([as_vector(row[3]) for row in rows], dtype=np.float32),
        cases=edge.cases,
        spread=spread,
        is_all=is_all or len(rows) >= edge.cases,
        searched=searched,
    )
