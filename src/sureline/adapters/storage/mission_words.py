"""What a mission's row quotes of an evaluation goes with that evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from sureline.adapters.storage.mission_rows import COLUMNS, mission_of, missions
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.core.mission.erasing import without_verdict
from sureline.core.mission.record import mission_record
from sureline.errors import StoreCorrupt

_JUDGED = compiled(
    select(*COLUMNS).where(
        missions.c.workspace == bindparam("workspace"),
        missions.c.last_decision == bindparam("decision_id"),
    )
)
_SET_WORDS = compiled(
    update(missions)
    .values(words=bindparam("new_words"))
    .where(missions.c.workspace == bindparam("of_workspace"), missions.c.id == bindparam("of_id"))
)
_ID, _WORDS = ([column.name for column in COLUMNS].index(name) for name in ("id", "words"))


def forget_verdict(transaction: Transaction, workspace: str, decision_id: str) -> None:
    """Delete the words of a mission's latest evaluation from its row, all of one that is damaged.

    Nothing else changes, so that whoever is at work on the mission goes on.
    """
    for row in transaction.all(_JUDGED, (workspace, decision_id)):
        words = _left(row)
        if words != row[_WORDS]:
            transaction.run(_SET_WORDS, (words, workspace, row[_ID]))
            transaction.scrub = True


def _left(row: Sequence[Any]) -> bytes | None:
    try:
        return mission_record(without_verdict(mission_of(row)))[1]
    except StoreCorrupt:
        return None
