"""Reads the latest labelled cases of one slice; see the port `LatestCases` for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, literal_column, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.past_cases import proven_vector, vector_for
from sureline.adapters.storage.remade_vectors import remade_vectors
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, payloads, vectors
from sureline.application.ports.cases import PastCase

_LATEST = compiled(
    select(
        labels.c.mark,
        labels.c.decision_id,
        labels.c.correct,
        vectors.c.vector,
        vectors.c.model_id,
        payloads.c.salt,
        decisions.c.vector_digest,
        remade_vectors.c.vector,
        remade_vectors.c.digest,
    )
    .select_from(
        labels.join(
            decisions,
            and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
        )
        .join(
            vectors,
            and_(vectors.c.stream == labels.c.stream, vectors.c.seq == labels.c.seq),
        )
        .join(
            payloads,
            and_(payloads.c.stream == labels.c.stream, payloads.c.seq == labels.c.seq),
        )
        .outerjoin(
            remade_vectors,
            and_(
                remade_vectors.c.stream == labels.c.stream,
                remade_vectors.c.seq == labels.c.seq,
                remade_vectors.c.model_id == bindparam("model_id"),
            ),
        )
    )
    # Not the bare column: its index would sort the whole workspace instead of walking the marks.
    .where(labels.c.workspace.concat(literal_column("''")) == bindparam("workspace"))
    .where(decisions.c.slice_key == bindparam("slice_key"))
    .where(decisions.c.vector_digest.is_not(None))
    .order_by(labels.c.mark.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


class SqlLatestCases:
    """Walks the labels backwards until there are enough of the slice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(self, workspace: str, slice_key: str, limit: int) -> Sequence[PastCase]:
        """Return the latest labelled cases with their vectors; read off the loop.

        Those of another model than the latest has are left out, unless they were made anew.
        """

        def read() -> list[PastCase]:
            wanted = {"workspace": workspace, "slice_key": slice_key, "limit": limit}
            with self._database.reader() as fetch:
                newest = {**wanted, "model_id": "", "limit": 1}
                model_id = _model(fetch(_LATEST, _LATEST.row(newest)))
                if model_id is None:
                    model_id = _model(fetch(_LATEST, _LATEST.row({**newest, "limit": limit})))
                if model_id is None:
                    return []
                rows = fetch(_LATEST, _LATEST.row({**wanted, "model_id": model_id}))
            return [
                PastCase(
                    cursor=mark,
                    workspace=workspace,
                    slice_key=slice_key,
                    decision_id=decision_id,
                    model_id=model_id,
                    vector=found,
                    approved=bool(correct),
                )
                for mark, decision_id, correct, vector, *proof in rows
                if (found := vector_for(model_id, vector, *proof))
            ]

        return await asyncio.to_thread(read)


def _model(rows: Sequence[Sequence[Any]]) -> str | None:
    """Return the model of the latest case whose vector is proven: a name alone proves nothing."""
    for _, _, _, vector, model_id, salt, digest, *_ in rows:
        if proven_vector(vector, model_id, salt, digest):
            return str(model_id)
    return None
