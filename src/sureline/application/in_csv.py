"""Lists as CSV, for people who go on in a spreadsheet; every cell is a text or a number there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sureline.application.logbook import Entry
from sureline.application.ports.planted import GoldenCase
from sureline.core.csv_text import csv_text
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine

_QUEUE = (
    *("id", "slice", "kind", "state", "stakes_rank", "level", "opened_at", "deadline"),
    *("claimed_by", "action", "by", "at", "reason", "comment", "task"),
)
_LOGBOOK = ("at", "change", "subject", "slice", "by", "share_before", "share_after", "note")
_GOLDEN = ("id", "slice", "task", "source", "draft", "expected", "edited_fields", "at")


def queue_csv(items: Iterable[Review], lines: Mapping[str, ReviewLine] | None = None) -> str:
    """Return items of the queue, with the beginnings of their tasks where `lines` has them."""
    known = lines or {}
    return csv_text(_QUEUE, [_queue_row(one, known.get(one.id)) for one in items])


def logbook_csv(entries: Iterable[Entry]) -> str:
    """Return changes with the shares of what acted alone before and after them."""
    return csv_text(
        _LOGBOOK,
        [
            (
                one.at.isoformat(),
                one.change,
                one.subject,
                one.slice_key,
                one.by,
                one.before.share,
                one.after.share,
                one.note,
            )
            for one in entries
        ],
    )


def golden_csv(cases: Iterable[GoldenCase]) -> str:
    """Return what editors corrected: what was asked, what came, what should have come."""
    return csv_text(
        _GOLDEN,
        [
            (
                one.decision_id,
                one.slice_key,
                one.task,
                _json([dict(each) for each in one.source]),
                _json(one.draft),
                _json(one.expected),
                " ".join(one.edited_fields),
                one.at.isoformat(),
            )
            for one in cases
        ],
    )


def _queue_row(item: Review, line: ReviewLine | None) -> Sequence[Any]:
    said = item.verdict
    return (
        item.id,
        item.slice_key,
        item.kind,
        item.state,
        item.rank,
        item.level,
        item.opened_at.isoformat(),
        item.deadline.isoformat(),
        item.claimed_by,
        *((None,) * 5 if said is None else _said(said)),
        None if line is None else line.task,
    )


def _said(said: Any) -> Sequence[Any]:
    return said.action, said.by, said.at.isoformat(), said.reason, said.comment


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
