"""The table of missions, and missions and their events as rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, text
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import from_micros, micros_or_none, to_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import mission_events
from sureline.application.identify import subject_key
from sureline.core.canonical import canonical_json
from sureline.core.chain import FieldValue
from sureline.core.mission.record import mission_from_record, mission_record
from sureline.core.values.mission import Cause, EventKind, Mission, MissionEvent, MissionState
from sureline.errors import StoreCorrupt

missions = Table(
    "missions",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("kind"),
    text_column("state"),
    text_column("cause"),
    text_column("submitted_by", null=True),
    Column("subject", LargeBinary, nullable=True),
    text_column("last_decision", null=True),
    Column("waits", Integer, nullable=False),
    whole_column("timer_at", null=True),
    whole_column("updated_at"),
    whole_column("ended_at", null=True),
    Column("version", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("words", LargeBinary, nullable=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""How missions stand. `body` holds codes and figures, `words` what is erasable, None if it was.

`subject` is a keyed digest. `waits` says that a person must say how it goes on.
"""

Index(
    "ix_missions_listed",
    missions.c.workspace,
    missions.c.waits.desc(),
    missions.c.updated_at.desc(),
    missions.c.id,
)
Index("ix_missions_state", missions.c.workspace, missions.c.kind, missions.c.state)
_HAS_TIMER, _IS_ABOUT, _IS_JUDGED, _HAS_WORDS = (
    text("timer_at IS NOT NULL"),
    text("subject IS NOT NULL"),
    text("last_decision IS NOT NULL"),
    text("words IS NOT NULL AND ended_at IS NOT NULL"),
)
Index(
    "ix_missions_timer",
    missions.c.workspace,
    missions.c.timer_at,
    missions.c.id,
    sqlite_where=_HAS_TIMER,
    postgresql_where=_HAS_TIMER,
)
Index(
    "ix_missions_subject",
    missions.c.workspace,
    missions.c.subject,
    missions.c.id,
    sqlite_where=_IS_ABOUT,
    postgresql_where=_IS_ABOUT,
)
Index(
    "ix_missions_judged",
    missions.c.workspace,
    missions.c.last_decision,
    sqlite_where=_IS_JUDGED,
    postgresql_where=_IS_JUDGED,
)
Index(
    "ix_missions_over",
    missions.c.workspace,
    missions.c.kind,
    missions.c.id,
    sqlite_where=_HAS_WORDS,
    postgresql_where=_HAS_WORDS,
)

COLUMNS = tuple(missions.columns)
EVENT_COLUMNS = tuple(
    column for column in mission_events.columns if column.name not in {"stream", "seq", "hash"}
)
_insert = upsert(missions)
PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["workspace", "id"],
        set_={
            column.name: _insert.excluded[column.name]
            for column in COLUMNS
            if not column.primary_key
        },
    )
)


def row_of(mission: Mission, secret: bytes) -> tuple[Any, ...]:
    """Return a mission as a row, in the order of the table. Raises InvalidInput, ValueError."""
    body, words = mission_record(mission)
    about = None if mission.erased else mission.subject
    values = {
        **_shown(mission),
        "submitted_by": mission.submitted_by,
        "subject": None if about is None else subject_key(secret, mission.workspace, about),
        "last_decision": None if mission.last is None else mission.last.decision_id,
        "waits": int(mission.state is MissionState.SUSPENDED),
        "timer_at": micros_or_none(mission.timer_at),
        "updated_at": to_micros(mission.updated_at),
        "ended_at": micros_or_none(mission.ended_at),
        "body": body,
        "words": words,
    }
    return tuple(values[column.name] for column in COLUMNS)


def _shown(mission: Mission) -> dict[str, Any]:
    """Return what a row says in columns of its own, and in its body again."""
    return {
        "workspace": mission.workspace,
        "id": mission.id,
        "kind": mission.kind,
        "state": mission.state.value,
        "cause": mission.cause.value,
        "version": mission.version,
    }


def mission_of(row: Sequence[Any]) -> Mission:
    """Build the mission from a row of all columns. Raises StoreCorrupt where it cannot be read."""
    values = dict(zip((column.name for column in COLUMNS), row, strict=True))
    try:
        mission = mission_from_record(values["body"], values["words"])
        shown = _shown(mission)
        is_same = all(values[name] == one for name, one in shown.items())
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise StoreCorrupt(
            f"mission {values['id']!r} cannot be read ({type(error).__name__}); it does not go on"
        ) from error
    if not is_same:
        raise StoreCorrupt(
            f"mission {values['id']!r} was changed by somebody else; it does not go on"
        )
    return mission


def readable(rows: Sequence[Any]) -> Iterator[Mission]:
    """Yield the missions that can be read: a damaged row holds up no other."""
    for row in rows:
        try:
            yield mission_of(row)
        except StoreCorrupt:
            continue


def event_fields(event: MissionEvent, decision_id: str | None = None) -> dict[str, FieldValue]:
    """Return an event's columns, all of which the chain covers. Raises InvalidInput.

    `decision_id` is that of the evaluation that it tells of.
    """
    return {
        "workspace": event.workspace,
        "mission_id": event.mission_id,
        "event": event.kind.value,
        "at": to_micros(event.at),
        "state": event.state.value,
        "cause": event.cause.value,
        "invocation": event.invocation,
        "by": event.by,
        "decision_id": decision_id,
        "facts": canonical_json(dict(event.facts)).decode("utf-8"),
    }


def event_of(row: Sequence[Any]) -> MissionEvent:
    """Build the event from a row of EVENT_COLUMNS. Raises StoreCorrupt where it cannot be read."""
    values = dict(zip((column.name for column in EVENT_COLUMNS), row, strict=True))
    try:
        return MissionEvent(
            workspace=values["workspace"],
            mission_id=values["mission_id"],
            kind=EventKind(values["event"]),
            at=from_micros(values["at"]),
            state=MissionState(values["state"]),
            cause=Cause(values["cause"]),
            invocation=values["invocation"],
            by=values["by"],
            facts=dict(json.loads(values["facts"])),
        )
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreCorrupt(
            f"an event of mission {values['mission_id']!r} cannot be read "
            f"({type(error).__name__}); `sureline ledger verify` says more"
        ) from error
