"""Writes decisions: many at once, each with its payload, vector and place in the chain."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, select

from sureline.adapters.storage.count_opinions import ADD_OPINIONS, OpinionCounter
from sureline.adapters.storage.count_tables import route_counts, score_counts
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.queued import open_reviews
from sureline.adapters.storage.statement import LISTED, adding, compiled, insertion, json_list
from sureline.adapters.storage.stored_decisions import BY_ID, stored_decision
from sureline.adapters.storage.subjects import put_subjects
from sureline.adapters.storage.tables import decisions, payloads, vectors
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord, StoredDecision
from sureline.core.chain import FieldValue, payload_digest, vector_digest
from sureline.core.values.periods import day_number, week_number

SALT_BYTES = 16

_KNOWN = compiled(
    select(decisions.c.id).where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id.in_(LISTED)
    )
)
INSERT_DECISION = insertion(decisions)
INSERT_PAYLOAD = insertion(payloads)
INSERT_VECTOR = insertion(vectors)
ADD_ROUTES = adding(route_counts)
ADD_SCORES = adding(score_counts)


@dataclass(frozen=True, slots=True)
class AppendDecision:
    """The job of writing one decision; the writer runs all of a batch together."""

    record: DecisionRecord

    def __call__(self, transaction: Transaction) -> StoredDecision:
        """Write this decision alone."""
        return append_decisions(transaction, [self])[0]


def append_decisions(
    transaction: Transaction, jobs: Sequence[AppendDecision]
) -> list[StoredDecision]:
    """Write the decisions whose id is new and return what is stored under each id."""
    records = [job.record for job in jobs]
    return [
        _existing(transaction, record) if seq is None else _as_stored(record)
        for record, seq in zip(records, append_new(transaction, records), strict=True)
    ]


def append_new(transaction: Transaction, records: Sequence[DecisionRecord]) -> list[int | None]:
    """Write the decisions whose id is new; return each one's place in the chain, None if known.

    Where no lock is held an id that is not there now may come from another writer in this moment:
    the insertion waits for that one's end, fails if it is stored, and all is to be done again.
    """
    fresh: dict[tuple[str, str], int] = {}
    for index, record in enumerate(records):
        fresh.setdefault((record.workspace, record.id), index)
    for key in _known_among(transaction, fresh):
        del fresh[key]
    places: list[int | None] = [None] * len(records)
    new = list(fresh.values())
    for index, seq in zip(new, _insert(transaction, [records[i] for i in new]), strict=True):
        places[index] = seq
    return places


def _known_among(transaction: Transaction, keys: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return which (workspace, id) are stored, with one query a workspace."""
    by_workspace: dict[str, list[str]] = {}
    for workspace, decision_id in keys:
        by_workspace.setdefault(workspace, []).append(decision_id)
    return {
        (workspace, row[0])
        for workspace, ids in by_workspace.items()
        for row in transaction.all(_KNOWN, (workspace, json_list(ids)))
    }


def fields_of(record: DecisionRecord) -> dict[str, FieldValue]:
    """Return the columns that the chain covers as fields."""
    return {
        "workspace": record.workspace,
        "id": record.id,
        "slice_key": record.slice_key,
        "route": record.route,
        "would_route": record.would_route,
        "mode": record.mode,
        "score": None if record.score is None else float(record.score),
        "score_bin": record.score_bin,
        "audit": int(record.audit),
        "failed": int(record.failed),
        "submitted_by": record.submitted_by,
        "propensity": float(record.propensity),
        "attempt": record.attempt,
        "stratum": str(record.stratum),
        "policy_hash": record.policy_hash,
        "measurement_hash": record.measurement_hash,
        "batch_id": record.batch_id,
        "content_digest": record.content_digest.hex(),
        "task_digest": record.task_digest.hex(),
        "created_at": to_micros(record.created_at),
        "vector_digest": None,
    }


def _insert(transaction: Transaction, records: Sequence[DecisionRecord]) -> list[int]:
    salts = os.urandom(SALT_BYTES * len(records))
    stream = transaction.own_stream
    places, rows, payload_rows, vector_rows = [], [], [], []
    for index, record in enumerate(records):
        salt = salts[index * SALT_BYTES : (index + 1) * SALT_BYTES]
        digest = payload_digest(salt, record.answer, record.request)
        fields = fields_of(record)
        proof = None
        if record.vector is not None:
            proof = vector_digest(salt, str(record.model_id), record.vector)
            fields["vector_digest"] = proof.hex()
        head = transaction.link("decision", fields, body=record.body, payload_digest=digest)
        fields["content_digest"] = record.content_digest  # type: ignore[assignment]
        fields["task_digest"] = record.task_digest  # type: ignore[assignment]
        fields["vector_digest"] = proof  # type: ignore[assignment]
        places.append(head.seq)
        rows.append((stream, head.seq, head.hash, *fields.values(), digest, record.body))
        payload_rows.append(
            (stream, head.seq, record.workspace, salt, record.answer, record.request)
        )
        if record.vector is not None:
            vector_rows.append((stream, head.seq, record.workspace, record.model_id, record.vector))
    # By id, so that two writers with the same ids wait for each other and not both at once.
    transaction.insert(INSERT_DECISION, sorted(rows, key=itemgetter(3, 4)))
    transaction.insert(INSERT_PAYLOAD, payload_rows)
    transaction.insert(INSERT_VECTOR, vector_rows)
    put_subjects(
        transaction,
        [
            (stream, place, record.workspace, record.subject)
            for place, record in zip(places, records, strict=True)
            if record.subject is not None
        ],
    )
    open_reviews(transaction, records)
    _count(transaction, records)
    return places


def _count(transaction: Transaction, records: Sequence[DecisionRecord]) -> None:
    """Keep the counts by day and route, by week and score bin, and of second opinions."""
    routes: Counter[tuple[Any, ...]] = Counter()
    scores: Counter[tuple[Any, ...]] = Counter()
    opinions = OpinionCounter()
    stream = transaction.own_stream
    for record in records:
        day = day_number(record.created_at)
        routes[record.workspace, record.slice_key, day, record.route] += 1
        if record.score_bin is not None:
            week, place = week_number(day), record.score_bin
            scores[record.workspace, record.slice_key, record.measurement_hash, week, place] += 1
        opinions.add(record.workspace, record.slice_key, day, stream, record.body)
    transaction.run_many(ADD_ROUTES, _sorted(routes, stream))
    transaction.run_many(ADD_SCORES, _sorted(scores, stream))
    transaction.run_many(ADD_OPINIONS, opinions.rows())


def _sorted(counts: Counter[tuple[Any, ...]], stream: str) -> list[tuple[Any, ...]]:
    """Return the rows of a count table, in an order in which no two writers wait for each other."""
    return [(*key, stream, count) for key, count in sorted(counts.items())]


def _as_stored(record: DecisionRecord) -> StoredDecision:
    return StoredDecision(
        id=record.id,
        workspace=record.workspace,
        slice_key=record.slice_key,
        route=record.route,
        mode=record.mode,
        score=record.score,
        measurement_hash=record.measurement_hash,
        content_digest=record.content_digest,
        created_at=record.created_at,
        body=record.body,
        answer=record.answer,
        request=record.request,
        submitted_by=record.submitted_by,
        created=True,
    )


def _existing(transaction: Transaction, record: DecisionRecord) -> StoredDecision:
    row = transaction.first(BY_ID, (record.workspace, record.id))
    assert row is not None
    return stored_decision(row)
