"""Vectors made anew: derived, apart from the chain, each under a digest of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, payloads, vectors
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.remade_vectors import LabelledCase, RemadeVector, Standing
from sureline.core.chain import vector_digest

PAGE = 2_000

remade_vectors = Table(
    "remade_vectors",
    metadata,
    text_column("stream"),
    whole_column("seq"),
    text_column("model_id"),
    text_column("workspace"),
    Column("digest", LargeBinary, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "model_id"),
)
"""`digest` is the salted digest that the chain would commit to if these were part of it."""

_CASES = compiled(
    select(
        labels.c.mark,
        labels.c.stream,
        labels.c.seq,
        labels.c.decision_id,
        vectors.c.model_id,
        payloads.c.salt,
        remade_vectors.c.digest,
        remade_vectors.c.vector,
    )
    .select_from(
        labels.join(
            decisions,
            and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
        )
        .outerjoin(
            vectors, and_(vectors.c.stream == labels.c.stream, vectors.c.seq == labels.c.seq)
        )
        .outerjoin(
            payloads, and_(payloads.c.stream == labels.c.stream, payloads.c.seq == labels.c.seq)
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
    .where(labels.c.mark < bindparam("before"))
    .order_by(labels.c.mark.desc())
    .limit(bindparam("page"))
    .offset(literal_column("0"))
)
_SALT = compiled(
    select(payloads.c.salt).where(
        payloads.c.stream == bindparam("of_stream"),
        payloads.c.seq == bindparam("of_seq"),
        payloads.c.workspace == bindparam("of_workspace"),
    )
)
_insert = upsert(remade_vectors)
_PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["stream", "seq", "model_id"],
        set_={name: _insert.excluded[name] for name in ("workspace", "digest", "vector")},
    )
)
_stored = union_all(
    *(
        select(table.c.model_id, func.length(table.c.vector).label("size"))
        for table in (vectors, remade_vectors)
    )
).subquery()
_MODELS = compiled(
    select(_stored.c.model_id, _stored.c.size)
    .group_by(_stored.c.model_id, _stored.c.size)
    .order_by(func.count().desc(), _stored.c.model_id)
)


class SqlRemadeVectors:
    """Keeps vectors made anew; see the port `RemadeVectors` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cases(self, workspace: str, slice_key: str, model_id: str) -> Sequence[LabelledCase]:
        """Return the slice's labelled decisions that had a vector; read off the loop."""

        def read() -> list[LabelledCase]:
            found: list[LabelledCase] = []
            before = 2**62
            with self._database.reader() as fetch:
                while True:
                    wanted = _CASES.row(
                        {
                            "model_id": model_id,
                            "workspace": workspace,
                            "slice_key": slice_key,
                            "before": before,
                            "page": PAGE,
                        }
                    )
                    page = fetch(_CASES, wanted)
                    found += [_case(row, model_id) for row in page]
                    if len(page) < PAGE:
                        return found
                    before = page[-1][0]

        return await asyncio.to_thread(read)

    async def put(self, workspace: str, model_id: str, made: Sequence[RemadeVector]) -> int:
        """Keep vectors in one transaction, under whose lock no payload can be erased."""

        def write(transaction: Transaction) -> int:
            rows = []
            for one in made:
                salt = transaction.first(_SALT, (one.stream, one.seq, workspace))
                if salt is not None:
                    digest = vector_digest(salt[0], model_id, one.vector)
                    rows.append((one.stream, one.seq, model_id, workspace, digest, one.vector))
            transaction.run_many(_PUT, rows)
            return len(rows)

        return await self._database.write(write)

    async def models(self) -> Sequence[tuple[str, int]]:
        """Return the models of what is stored; each has the dimension of most of its vectors."""

        def read() -> list[tuple[str, int]]:
            with self._database.reader() as fetch:
                rows = fetch(_MODELS, ())
            sizes: dict[str, int] = {}
            for model_id, size in rows:
                sizes.setdefault(model_id, size)
            return [(model_id, size // 4) for model_id, size in sizes.items()]

        return await asyncio.to_thread(read)


def _case(row: Sequence[Any], model_id: str) -> LabelledCase:
    _, stream, seq, decision_id, own_model, salt, digest, vector = row
    if salt is None:
        standing = Standing.ERASED
    elif own_model == model_id:
        standing = Standing.OWN
    elif vector is not None and vector_digest(salt, model_id, vector) == digest:
        standing = Standing.REMADE
    else:
        standing = Standing.MISSING
    return LabelledCase(stream=stream, seq=seq, decision_id=decision_id, standing=standing)
