"""What becomes of a planted item that was released: an answer of its own, and nothing else."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, null, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.planted_outcomes import forget_planted_outcomes
from sureline.adapters.storage.planted_rows import (
    follow_ups,
    own_answers,
    planted,
    planted_answers,
)
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.core.review.honeypot import PlantedFor
from sureline.core.values.person import same_person
from sureline.core.values.review import Review, ReviewKind, ReviewState

_PURPOSE = compiled(
    select(planted.c.purpose).where(
        planted.c.workspace == bindparam("workspace"),
        planted.c.review_id == bindparam("review_id"),
    )
)
_ANSWER = compiled(upsert(planted_answers).on_conflict_do_nothing())
_FOLLOW = compiled(upsert(follow_ups).on_conflict_do_nothing())
_OF_SOURCE = compiled(
    select(planted.c.review_id).where(
        planted.c.workspace == bindparam("workspace"),
        planted.c.source_id == bindparam("source_id"),
    )
)
_FORGET = compiled(
    update(planted)
    .values(answer=null())
    .where(
        planted.c.workspace == bindparam("of_workspace"),
        planted.c.source_id == bindparam("of_source_id"),
    )
)
_FORGET_OWN = compiled(
    delete(own_answers).where(
        own_answers.c.workspace == bindparam("workspace"),
        own_answers.c.review_id == bindparam("review_id"),
    )
)
FOLLOWED = compiled(
    delete(follow_ups).where(
        follow_ups.c.workspace == bindparam("workspace"),
        follow_ups.c.review_id == bindparam("review_id"),
    )
)


def keep_answers(transaction: Transaction, item: Review) -> None:
    """Keep each person's word as an answer when a planted item is released.

    One that the queue really asked for is noted for a second look.
    """
    found = transaction.first(_PURPOSE, (item.workspace, item.id))
    decided = item.released and item.state is ReviewState.DECIDED
    if found is None:
        if decided and item.kind is ReviewKind.REVIEW:
            transaction.run(_FOLLOW, (item.workspace, item.id))
    elif decided:
        _keep_answers(transaction, item, PlantedFor(found[0]))


def answered_elsewhere(transaction: Transaction, item: Review, *, released: bool = True) -> None:
    """Keep what was said of a planted item that an answer from outside the queue has closed.

    With `released` False also what could still be taken back, for nobody will get to it any more.
    """
    found = transaction.first(_PURPOSE, (item.workspace, item.id))
    ended = item.state is ReviewState.DECIDED and (item.released or not released)
    if found is not None and ended:
        _keep_answers(transaction, item, PlantedFor(found[0]))


def is_planted(transaction: Transaction, workspace: str, review_id: str) -> bool:
    """Tell whether an item was planted."""
    return transaction.first(_PURPOSE, (workspace, review_id)) is not None


def _keep_answers(transaction: Transaction, item: Review, purpose: PlantedFor) -> None:
    for said in item.given:
        # Who has seen it before is not refused, for that would give it away; it counts for nothing.
        seen = any(same_person(one, said.by) for one in item.rules.not_by)
        if said.correct is None or seen:
            continue
        row = (item.workspace, item.id, said.by, item.slice_key, purpose.value)
        figures = (int(said.correct), said.seconds, to_micros(said.at))
        transaction.run(_ANSWER, (*row, *figures))
    if purpose is not PlantedFor.HONEYPOT:
        transaction.run(_FOLLOW, (item.workspace, item.id))


def forget_planted(transaction: Transaction, workspace: str, source_id: str) -> list[str]:
    """Delete what was made of an erased decision; return the items that showed it."""
    items = [row[0] for row in transaction.all(_OF_SOURCE, (workspace, source_id))]
    for one in (source_id, *items):
        transaction.run(_FORGET_OWN, (workspace, one))
    for one in items:
        forget_planted_outcomes(transaction, workspace, one)
    if items:
        transaction.run(_FORGET, (workspace, source_id))
    return items
