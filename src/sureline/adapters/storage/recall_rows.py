"""The tables of recalls, and recalls as their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import PrimaryKeyConstraint, Table

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import (
    from_micros,
    micros_or_none,
    moment_or_none,
    to_micros,
)
from sureline.core.canonical import canonical_json
from sureline.core.values.recall import Recall, RecallWanted

recalls = Table(
    "recalls",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("wanted"),
    text_column("reason"),
    text_column("by"),
    whole_column("started_at"),
    whole_column("until_mark"),
    whole_column("done_mark"),
    whole_column("recalled"),
    whole_column("queued"),
    whole_column("used"),
    whole_column("finished_at", null=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""How far each recall is; that there is one stands in the ledger as an activation."""

recalled = Table(
    "recalled",
    metadata,
    text_column("workspace"),
    text_column("decision_id"),
    text_column("recall_id"),
    text_column("review_id", null=True),
    PrimaryKeyConstraint("workspace", "decision_id"),
)
"""What was called back, each decision once; its approval cannot be used any more."""

COLUMNS = tuple(recalls.columns)


def row_of(one: Recall) -> tuple[Any, ...]:
    """Return a recall as a row, in the order of the table."""
    return (
        one.workspace,
        one.id,
        wanted_text(one.wanted),
        one.reason,
        one.by,
        to_micros(one.started_at),
        one.until_mark,
        one.done_mark,
        one.recalled,
        one.queued,
        one.used,
        micros_or_none(one.finished_at),
    )


def recall_of(row: Sequence[Any]) -> Recall:
    """Build a recall from a row of all columns."""
    values = dict(zip((column.name for column in COLUMNS), row, strict=True))
    return Recall(
        **{
            **values,
            "wanted": _wanted(values["wanted"]),
            "started_at": from_micros(values["started_at"]),
            "finished_at": moment_or_none(values["finished_at"]),
        }
    )


def wanted_text(wanted: RecallWanted) -> str:
    """Return what is called back as one text: the same for the same."""
    given = {
        "certificate": wanted.certificate,
        "model": wanted.model,
        "policy": wanted.policy,
        "since": micros_or_none(wanted.since),
        "until": micros_or_none(wanted.until),
        "slice_key": wanted.slice_key,
    }
    return canonical_json({key: one for key, one in given.items() if one is not None}).decode()


def _wanted(text: str) -> RecallWanted:
    given = json.loads(text)
    moments = {key: moment_or_none(given[key]) for key in ("since", "until") if key in given}
    return RecallWanted(**{**given, **moments})
