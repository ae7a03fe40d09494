"""Reads the verdicts and deletions that the search index has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, literal_column, not_, or_, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.remade_vectors import remade_vectors
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, erasures, heads, payloads, vectors
from sureline.application.ports.cases import PastCase
from sureline.core.chain import vector_digest

PAGE = 2_000
"""Rows per read, so that no read lasts long (a long one keeps the write-ahead log growing)."""

_verdicts = (
    select(
        labels.c.mark.label("mark"),
        labels.c.workspace,
        decisions.c.slice_key,
        labels.c.decision_id,
        vectors.c.vector,
        labels.c.correct.label("approved"),
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
        .outerjoin(
            vectors,
            and_(vectors.c.stream == labels.c.stream, vectors.c.seq == labels.c.seq),
        )
        .outerjoin(
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
    .where(
        labels.c.mark > bindparam("after"),
        labels.c.mark <= bindparam("horizon"),
        # Not by the model's stored name: whoever renames it would hide the case. What a digest of
        # the chain proves decides which model's vector it is.
        or_(decisions.c.vector_digest.is_not(None), vectors.c.vector.is_not(None)),
        not_(
            exists().where(
                erasures.c.workspace == labels.c.workspace,
                erasures.c.decision_id == labels.c.decision_id,
            )
        ),
    )
    .order_by(labels.c.mark)
    .limit(bindparam("page"))
    .offset(literal_column("0"))
)
_VERDICTS = compiled(_verdicts)
_HORIZON = compiled(
    select(func.coalesce(func.max(heads.c.seq), literal_column("0"))).where(
        heads.c.stream == bindparam("common_stream")
    )
)
_DELETIONS = compiled(
    select(
        erasures.c.seq.label("mark"),
        erasures.c.workspace,
        erasures.c.slice_key,
        erasures.c.decision_id,
    )
    .where(erasures.c.seq > bindparam("after"), erasures.c.seq <= bindparam("horizon"))
    .order_by(erasures.c.seq)
    .limit(bindparam("page"))
    .offset(literal_column("0"))
)

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]


def past_cases(fetch: Fetch, common_stream: str, cursor: int, model_id: str) -> list[PastCase]:
    """Return each labelled decision's verdict as it stands, and each deletion, oldest first.

    A decision appears once, at the outcome that gave it its present label, with the vector that
    this model gave it then, or that was made anew with it. A vector that is gone
    without an erasure, or is not the one that was recorded, or stands under another model's name,
    comes back empty: the search then fails for that slice, and people decide, instead of leaving
    out a case that spoke against an output. A case that is proven to be another model's is left
    out; the last of them comes back under that model's name, so that they are not read again.
    Nothing beyond what was written when the reading began is returned, or a deletion read later
    could carry the cursor past a verdict that was written in between.
    """
    horizon = fetch(_HORIZON, (common_stream,))[0][0]
    found: list[PastCase] = []
    last = None
    after = cursor
    while page := _verdict_page(fetch, model_id, after, horizon, PAGE):
        after = page[-1][0]
        cases = [_case(model_id, row) for row in page]
        found += [case for case in cases if case.model_id == model_id]
        last = cases[-1]
        if len(page) < PAGE:
            break
    if last is not None and last.model_id != model_id:
        found.append(last)
    return _in_order(found, _deletions(fetch, cursor, horizon), model_id)


def next_cases(
    fetch: Fetch, common_stream: str, cursor: int, model_id: str, *, most: int
) -> tuple[list[PastCase], int]:
    """Return what `past_cases` does, but `most` verdicts, and the place up to which that is all."""
    horizon = fetch(_HORIZON, (common_stream,))[0][0]
    verdicts = _verdict_page(fetch, model_id, cursor, horizon, most)
    if len(verdicts) == most:
        horizon = verdicts[-1][0]
    cases = [case for row in verdicts if (case := _case(model_id, row)).model_id == model_id]
    return _in_order(cases, _deletions(fetch, cursor, horizon), model_id), horizon


def _verdict_page(fetch: Fetch, model_id: str, after: int, horizon: int, page: int) -> list[Any]:
    bounds = {"horizon": horizon, "model_id": model_id, "page": page, "after": after}
    return fetch(_VERDICTS, _VERDICTS.row(bounds))


def _deletions(fetch: Fetch, cursor: int, horizon: int) -> list[Any]:
    return _pages(lambda after: fetch(_DELETIONS, (after, horizon, PAGE)), cursor)


def _case(model_id: str, row: Sequence[Any]) -> PastCase:
    """Return a verdict; without a vector and under another name if it is another model's."""
    mark, workspace, slice_key, decision_id, vector, approved, own_model, *proof = row
    found = vector_for(model_id, vector, own_model, *proof)
    return PastCase(
        cursor=mark,
        workspace=workspace,
        slice_key=slice_key,
        decision_id=decision_id,
        model_id=own_model if found is None else model_id,
        vector=found or b"",
        approved=bool(approved),
    )


def _in_order(verdicts: list[PastCase], deletions: list[Any], model_id: str) -> list[PastCase]:
    found = verdicts + [
        PastCase(
            cursor=mark,
            workspace=workspace,
            slice_key=slice_key,
            decision_id=decision_id,
            model_id=model_id,
            vector=b"",
            approved=None,
        )
        for mark, workspace, slice_key, decision_id in deletions
    ]
    return sorted(found, key=lambda case: case.cursor)


def vector_for(
    model_id: str,
    own: bytes | None,
    own_model: str | None,
    salt: bytes | None,
    own_digest: bytes | None,
    remade: bytes | None,
    remade_digest: bytes | None,
) -> bytes | None:
    """Return this model's vector of a case, its own or the one made anew, if it is proven.

    Nothing where it is not; None where the case is proven to be another model's. One made anew
    stands in for none but those: it is no part of the chain, so it must not cover up a hole.
    """
    own = proven_vector(own, own_model, salt, own_digest)
    if not own or own_model == model_id:
        return own
    if remade is None or remade_digest is None:
        return None
    return proven_vector(remade, model_id, salt, remade_digest)


def proven_vector(
    vector: bytes | None, model_id: str | None, salt: bytes | None, digest: bytes | None
) -> bytes:
    """Return the vector if it is the one that the digest was made of, else nothing."""
    if vector is None or model_id is None or salt is None:
        return b""
    return vector if vector_digest(salt, model_id, vector) == digest else b""


def _pages(fetch: Callable[[int], list[Any]], cursor: int) -> list[Any]:
    rows: list[Any] = []
    while page := fetch(cursor):
        rows.extend(page)
        cursor = page[-1][0]
        if len(page) < PAGE:
            break
    return rows
