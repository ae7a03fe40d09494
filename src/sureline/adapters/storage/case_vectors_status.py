"""Tells how many past cases there are, where they lie and how they would be searched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, select, union_all

from sureline.adapters.storage.case_vector_rows import OnPostgres
from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.remade_vectors import remade_vectors
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, vectors
from sureline.application.ports.past_cases import CaseIndexState, CaseSlice

_vectors = union_all(
    *(
        select(
            table.c.stream, table.c.seq, table.c.model_id, func.length(table.c.vector).label("size")
        )
        for table in (vectors, remade_vectors)
    )
).subquery()
_RECORDED = compiled(
    select(decisions.c.slice_key, _vectors.c.model_id, func.max(_vectors.c.size), func.count())
    .select_from(
        labels.join(
            decisions,
            and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
        ).join(
            _vectors,
            and_(_vectors.c.stream == labels.c.stream, _vectors.c.seq == labels.c.seq),
        )
    )
    .where(labels.c.workspace == bindparam("workspace"))
    .group_by(decisions.c.slice_key, _vectors.c.model_id)
    .order_by(decisions.c.slice_key, _vectors.c.model_id)
)
_STORED = OnPostgres(
    "SELECT s.slice_key, s.model_id, s.dimension, s.id, "
    "(SELECT count(*) FROM case_vectors AS v WHERE v.scope = s.id), "
    "(SELECT count(*) FROM case_vectors AS v WHERE v.scope = s.id AND v.vector IS NULL), "
    "s.recall, s.recall_low, s.queries, s.rows_measured, s.measured_at, i.indisvalid, "
    "pg_relation_size(i.indexrelid), EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS p "
    "WHERE p.index_relid = i.indexrelid) "
    "FROM case_scopes AS s "
    "LEFT JOIN pg_index AS i ON i.indexrelid = to_regclass('case_vectors_hnsw_' || s.id) "
    "WHERE s.workspace = %s"
)


class SqlCaseStatus:
    """Counts a workspace's past cases by slice and model, in the ledger and in the table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def slices(self, workspace: str, *, in_table: bool) -> Sequence[CaseSlice]:
        """Return what there is, by slice and model; `in_table` where there is such a table."""

        def read() -> list[CaseSlice]:
            with self._database.reader() as fetch:
                recorded = fetch(_RECORDED, (workspace,))
                stored = fetch(_STORED, (workspace,)) if in_table else []
            states = {(row[0], row[1], row[2]): _state(row) for row in stored}
            return [
                CaseSlice(
                    slice_key=slice_key,
                    model_id=model_id,
                    dimension=size // 4,
                    recorded=count,
                    index=states.get((slice_key, model_id, size // 4)),
                )
                for slice_key, model_id, size, count in recorded
            ]

        return await asyncio.to_thread(read)


def _state(row: Sequence[Any]) -> CaseIndexState:
    scope, stored, unusable, recall, low, queries, rows, at, is_valid, size, is_building = row[3:]
    return CaseIndexState(
        scope=scope,
        stored=stored,
        unusable=unusable,
        state=_state_of(is_valid, is_building=is_building),
        index_bytes=size or 0,
        recall=recall,
        recall_low=low,
        queries=queries,
        rows_measured=rows,
        measured_at=None if at is None else from_micros(at),
    )


def _state_of(is_valid: bool | None, *, is_building: bool) -> str:
    if is_building:
        return "building"
    if is_valid is None:
        return "none"
    return "there" if is_valid else "half"
