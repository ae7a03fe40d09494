"""The table of the review queue, and items as its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, text

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import (
    from_micros,
    micros_or_none,
    moment_or_none,
    to_micros,
)
from sureline.core.canonical import json_bytes
from sureline.core.values.hours import Window, WorkingHours
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review, ReviewKind, ReviewRules, ReviewState, Verdict
from sureline.errors import StoreCorrupt

reviews = Table(
    "reviews",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("decision_id"),
    text_column("slice_key"),
    text_column("kind"),
    text_column("state"),
    Column("open", Integer, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("level", Integer, nullable=False),
    whole_column("stepped_at", null=True),
    whole_column("deadline"),
    Column("uncertainty", Float, nullable=False),
    whole_column("due_at", null=True),
    whole_column("opened_at"),
    text_column("claimed_by", null=True),
    whole_column("claimed_at", null=True),
    whole_column("lease_until", null=True),
    text_column("digest"),
    Column("version", Integer, nullable=False),
    text_column("submitted_by", null=True),
    whole_column("release_at", null=True),
    Column("released", Integer, nullable=False),
    text_column("rules"),
    text_column("skipped_by"),
    Column("given", LargeBinary, nullable=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""State, no ledger: what was decided is in `outcomes`. `due_at` is when time will change it."""

ORDER = (
    reviews.c.level.desc(),
    reviews.c.rank.desc(),
    reviews.c.deadline,
    reviews.c.uncertainty.desc(),
    reviews.c.id,
)
"""Higher up first, then stakes, then deadline, then uncertainty.

An item that nobody takes goes a step up at its deadline and then comes before all others, so
that none waits for ever.
"""
_IS_OPEN = text("open = 1")
Index(
    "ix_reviews_open",
    reviews.c.workspace,
    *ORDER,
    sqlite_where=_IS_OPEN,
    postgresql_where=_IS_OPEN,
)
Index(
    "ix_reviews_open_slice",
    reviews.c.workspace,
    reviews.c.slice_key,
    reviews.c.kind,
    *ORDER,
    sqlite_where=_IS_OPEN,
    postgresql_where=_IS_OPEN,
)
Index(
    "ix_reviews_state",
    reviews.c.workspace,
    reviews.c.slice_key,
    reviews.c.kind,
    reviews.c.state,
    reviews.c.opened_at,
)
_IS_HELD = text("open = 1 AND claimed_by IS NOT NULL")
Index(
    "ix_reviews_held",
    reviews.c.workspace,
    reviews.c.claimed_by,
    sqlite_where=_IS_HELD,
    postgresql_where=_IS_HELD,
)
Index("ix_reviews_over", reviews.c.workspace, reviews.c.open, reviews.c.opened_at)
Index("ix_reviews_due", reviews.c.workspace, reviews.c.due_at)
Index("ix_reviews_decision", reviews.c.workspace, reviews.c.decision_id)

queue_counts = Table(
    "queue_counts",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    text_column("kind"),
    text_column("state"),
    whole_column("count"),
    PrimaryKeyConstraint("workspace", "slice_key", "kind", "state"),
)
"""How many items are in a state: counting a long queue anew for each page would take long."""

COLUMNS = tuple(reviews.columns)


def row_of(item: Review) -> tuple[Any, ...]:
    """Return an item as a row, in the order of the table."""
    values = {
        "workspace": item.workspace,
        "id": item.id,
        "decision_id": item.decision_id,
        "slice_key": item.slice_key,
        "kind": item.kind.value,
        "state": item.state.value,
        "open": int(item.state.is_open),
        "rank": item.rank,
        "level": item.level,
        "stepped_at": micros_or_none(item.stepped_at),
        "deadline": to_micros(item.deadline),
        "uncertainty": item.uncertainty,
        "due_at": micros_or_none(due_at(item)),
        "opened_at": to_micros(item.opened_at),
        "claimed_by": item.claimed_by,
        "claimed_at": micros_or_none(item.claimed_at),
        "lease_until": micros_or_none(item.lease_until),
        "digest": item.digest,
        "version": item.version,
        "submitted_by": item.submitted_by,
        "release_at": micros_or_none(item.release_at),
        "released": int(item.released),
        "rules": _rules_text(item.rules),
        "skipped_by": json.dumps(item.skipped_by),
        "given": _given_bytes(item.given) if item.given else None,
    }
    return tuple(values[column.name] for column in COLUMNS)


def due_at(item: Review) -> datetime | None:
    """Return when time alone will change an item next, None if never."""
    if item.state is ReviewState.DECIDED:
        return None if item.released else item.release_at
    if not item.state.is_open:
        return None
    if item.lease_until is None:
        return item.deadline
    return min(item.deadline, item.lease_until)


def review_of(row: Sequence[Any]) -> Review:
    """Build the item from a row of all columns. Raises StoreCorrupt where it cannot be read."""
    values = dict(zip((column.name for column in COLUMNS), row, strict=True))
    try:
        return _review(values)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StoreCorrupt(
            f"review {values['id']!r} cannot be read ({type(error).__name__}); nothing can be "
            "decided about it, and its output is not released"
        ) from error


def _review(values: Mapping[str, Any]) -> Review:
    return Review(
        workspace=values["workspace"],
        id=values["id"],
        decision_id=values["decision_id"],
        slice_key=values["slice_key"],
        kind=ReviewKind(values["kind"]),
        state=ReviewState(values["state"]),
        rank=values["rank"],
        level=values["level"],
        stepped_at=moment_or_none(values["stepped_at"]),
        deadline=from_micros(values["deadline"]),
        uncertainty=values["uncertainty"],
        opened_at=from_micros(values["opened_at"]),
        claimed_by=values["claimed_by"],
        claimed_at=moment_or_none(values["claimed_at"]),
        lease_until=moment_or_none(values["lease_until"]),
        digest=values["digest"],
        version=values["version"],
        submitted_by=values["submitted_by"],
        release_at=moment_or_none(values["release_at"]),
        released=bool(values["released"]),
        rules=_rules(values["rules"]),
        skipped_by=tuple(json.loads(values["skipped_by"])),
        given=tuple(map(_verdict, json.loads(values["given"] or b"[]"))),
    )


def _rules_text(rules: ReviewRules) -> str:
    seconds = (rules.deadline, rules.lease, rules.undo)
    return json.dumps(
        [
            *(one.total_seconds() for one in seconds),
            rules.escalations,
            rules.approvals,
            rules.not_by,
            rules.answer_first,
            [None if one is None else _hours_list(one) for one in rules.hours],
        ]
    )


def _rules(text: str) -> ReviewRules:
    deadline, lease, undo, escalations, approvals, not_by, answer_first, hours = json.loads(text)
    return ReviewRules(
        deadline=timedelta(seconds=deadline),
        lease=timedelta(seconds=lease),
        undo=timedelta(seconds=undo),
        escalations=escalations,
        approvals=approvals,
        not_by=tuple(not_by),
        answer_first=answer_first,
        hours=tuple(None if one is None else _hours(*one) for one in hours),
    )


def _hours_list(hours: WorkingHours) -> list[Any]:
    return [hours.time_zone, [[one.weekday, one.begins, one.ends] for one in hours.windows]]


def _hours(time_zone: str, windows: Sequence[Sequence[int]]) -> WorkingHours:
    return WorkingHours(
        time_zone=time_zone,
        windows=tuple(
            Window(weekday=day, begins=begins, ends=ends) for day, begins, ends in windows
        ),
    )


def _given_bytes(given: Sequence[Verdict]) -> bytes:
    return json_bytes(
        [
            {
                "action": one.action.value,
                "by": one.by,
                "digest": one.digest,
                "at": to_micros(one.at),
                "edited": one.edited,
                "edited_fields": list(one.edited_fields),
                "reason": one.reason,
                "comment": one.comment,
                "anchored": one.anchored,
                "seconds": one.seconds,
                "correct": one.correct,
                "recorded": one.recorded,
            }
            for one in given
        ]
    )


def _verdict(said: dict[str, Any]) -> Verdict:
    return Verdict(
        **{
            **said,
            "action": Action(said["action"]),
            "at": from_micros(said["at"]),
            "edited_fields": tuple(said["edited_fields"]),
        }
    )
