"""The tables of past cases on PostgreSQL, and the statements on them; SQLite has none of it.

`case_cursors` says how far the cases of a model were read from the ledger, `case_scopes` numbers
workspace, slice and model and keeps what was measured of its index, `case_vectors` has the latest
verdict of each case with its vector of unit length, or without one if it cannot be used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.storage.statement import Statement

if TYPE_CHECKING:
    from sureline.adapters.storage.postgres_driver import Connection

EF = 200
"""How many candidates a search by HNSW keeps."""
EXACT_BELOW = 20_000
"""Slices with fewer cases are searched exactly, whatever indexes there are."""
LEAST_RECALL = 0.9
"""An index whose recall cannot be shown to reach this is not used."""
_MOST_VECTOR, _MOST_HALF = 2_000, 4_000


class OnPostgres(Statement):
    """A statement that there is on PostgreSQL only; `%s` stands for each of its parameters."""

    def __init__(self, text: str) -> None:
        self._postgres = text

    @property
    def postgres(self) -> str:
        """The text as it is."""
        return self._postgres


IS_THERE = OnPostgres("SELECT to_regclass('case_vectors') IS NOT NULL")
MAKE = OnPostgres("SELECT sureline_case_vectors()")
CURSOR = OnPostgres("SELECT cursor FROM case_cursors WHERE model_id = %s AND dimension = %s")
SET_CURSOR = OnPostgres(
    "INSERT INTO case_cursors (model_id, dimension, cursor) VALUES (%s, %s, %s) "
    "ON CONFLICT (model_id, dimension) DO UPDATE SET cursor = excluded.cursor"
)
SCOPES_OF = OnPostgres(
    "SELECT workspace, slice_key, id FROM case_scopes WHERE model_id = %s AND dimension = %s"
)
NEW_SCOPE = OnPostgres(
    "INSERT INTO case_scopes (workspace, slice_key, model_id, dimension) VALUES (%s, %s, %s, %s) "
    "RETURNING id"
)
CONTENTS = OnPostgres(
    "SELECT s.workspace, s.slice_key, v.decision_id, v.mark, v.approved, vector_send(v.vector) "
    "FROM case_scopes AS s JOIN case_vectors AS v ON v.scope = s.id "
    "WHERE s.model_id = %s AND s.dimension = %s"
)
PUT = OnPostgres(
    "INSERT INTO case_vectors (scope, decision_id, mark, approved, vector) "
    "VALUES (%s, %s, %s, %s, %s::vector) ON CONFLICT (scope, decision_id) DO UPDATE SET "
    "mark = excluded.mark, approved = excluded.approved, vector = excluded.vector"
)
FORGET = OnPostgres("DELETE FROM case_vectors WHERE scope = %s AND decision_id = %s")

FILLING = OnPostgres("SELECT set_config('sureline.case_vectors', 'filled', true)")
"""Says, until the transaction ends, that what changes is taken in from the ledger.

Whatever else changes these tables has all of them read again: a row that somebody deleted, or
whose verdict somebody turned, must not make what people said of similar cases look better.
"""
FORGET_ALL = OnPostgres("DELETE FROM case_vectors")
READ_AGAIN = OnPostgres("UPDATE case_cursors SET cursor = 0")


def as_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as the extension reads it; no number changes."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def as_vector(sent: bytes) -> NDArray[np.float32]:
    """Read what the extension's `vector_send` wrote: four bytes of header, big-endian numbers."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)


def index_name(scope: int) -> str:
    """Return the name of a scope's index."""
    return f"case_vectors_hnsw_{scope}"


def indexed_type(dimension: int) -> str | None:
    """Return what the index keeps of a vector; None for more numbers than one can be made of.

    Half the precision costs recall, not truth: what is found is compared again with all digits.
    """
    if dimension <= _MOST_VECTOR:
        return f"vector({dimension:d})"
    return f"halfvec({dimension:d})" if dimension <= _MOST_HALF else None


def index_ddl(scope: int, dimension: int) -> str:
    """Return the statement that builds a scope's index while others read and write."""
    kept = indexed_type(dimension)
    assert kept is not None, f"no index takes {dimension} numbers"
    operators = f"{kept.partition('(')[0]}_ip_ops"
    return (
        f"CREATE INDEX CONCURRENTLY {index_name(scope)} ON case_vectors "
        f"USING hnsw ((vector::{kept}) {operators}) "
        f"WHERE scope = {scope:d} AND vector IS NOT NULL"
    )


def by_index(scope: int, dimension: int) -> str:
    """Return the query for the best cases by the index; parameters: mark, vector, count."""
    kept = indexed_type(dimension)
    return (
        "SELECT mark, decision_id, approved, vector_send(vector) FROM case_vectors "  # noqa: S608
        f"WHERE scope = {scope:d} AND vector IS NOT NULL AND mark >= %s "
        f"ORDER BY (vector::{kept}) <#> %s::{kept} LIMIT %s"
    )


BY_ALL = (
    "WITH compared AS MATERIALIZED (SELECT mark, -(vector <#> %s::vector) AS similarity "
    "FROM case_vectors WHERE scope = %s AND vector IS NOT NULL AND mark >= %s) "
    "SELECT mark, decision_id, approved, vector_send(vector), "
    "(SELECT stddev_pop(similarity) FROM compared) FROM case_vectors "
    "JOIN (SELECT mark FROM compared ORDER BY similarity DESC, mark DESC LIMIT %s) AS best "
    "USING (mark) WHERE scope = %s AND vector IS NOT NULL"
)
"""The query for the best of all cases; parameters: vector, scope, mark, count, scope."""

Row = tuple[Any, ...]


def set_to_search(connection: Connection) -> None:
    """Set what searching needs, whatever the server's defaults and its statistics are.

    The extension's settings are known once it is loaded. Without sorting, the only way to the
    nearest is the index, where there is one; what has to be sorted is sorted anyway. Compiling a
    query takes longer than running it.
    """
    connection.execute("SELECT '[1]'::vector")
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, false), "
        "set_config('hnsw.iterative_scan', 'strict_order', false), "
        "set_config('enable_sort', 'off', false), set_config('jit', 'off', false)",
        (str(EF),),
    )
