"""Tells what a payload is still needed for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from sureline.adapters.storage.incident_rows import incidents
from sureline.adapters.storage.mission_rows import missions
from sureline.adapters.storage.outbox_rows import deliveries, notices
from sureline.adapters.storage.planted_rows import planted
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.statement import LISTED, Statement, compiled, json_list
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.application.ports.erasures import Hold

_WORKSPACE: BindParameter[str] = bindparam("workspace")


def _text(word: str) -> Any:
    return literal_column(f"'{word}'")


def _because(column: Any, hold: Hold) -> Select[Any]:
    return select(column.label("id"), _text(hold.value).label("hold"))


_UNDECIDED = or_(
    reviews.c.open == literal_column("1"),
    and_(reviews.c.state == _text("decided"), reviews.c.released == literal_column("0")),
)
_QUEUED = _because(reviews.c.decision_id, Hold.IN_QUEUE).where(
    reviews.c.workspace == _WORKSPACE, reviews.c.decision_id.in_(LISTED), _UNDECIDED
)
_SHOWN = (
    _because(planted.c.source_id, Hold.IN_QUEUE)
    .select_from(
        planted.join(
            reviews,
            and_(
                reviews.c.workspace == planted.c.workspace,
                reviews.c.id == planted.c.review_id,
            ),
        )
    )
    .where(planted.c.workspace == _WORKSPACE, planted.c.source_id.in_(LISTED), _UNDECIDED)
)
"""What a planted item shows lies with its source."""
_TO_DELIVER = (
    _because(notices.c.decision_id, Hold.TO_TELL)
    .select_from(
        deliveries.join(
            notices,
            and_(
                notices.c.workspace == deliveries.c.workspace,
                notices.c.id == deliveries.c.notice_id,
            ),
        )
    )
    .where(
        deliveries.c.workspace == _WORKSPACE,
        deliveries.c.state == _text("waiting"),
        notices.c.decision_id.in_(LISTED),
    )
)
"""Notices of which no delivery was made yet do not count: where nobody delivers, none ever is."""
_AUDITED = outcomes.alias("audited")
_TO_AUDIT = _because(decisions.c.id, Hold.AUDIT).where(
    decisions.c.workspace == _WORKSPACE,
    decisions.c.id.in_(LISTED),
    decisions.c.audit == literal_column("1"),
    ~exists(
        select(literal_column("1"))
        .select_from(_AUDITED)
        .where(
            _AUDITED.c.workspace == decisions.c.workspace,
            _AUDITED.c.decision_id == decisions.c.id,
            _AUDITED.c.source == _text("audit"),
            _AUDITED.c.correct.is_not(None),
        )
        .correlate(decisions)
    ),
)
_IN_INCIDENT = _because(incidents.c.decision_id, Hold.INCIDENT).where(
    incidents.c.workspace == _WORKSPACE,
    incidents.c.decision_id.in_(LISTED),
    incidents.c.stands == literal_column("1"),
    incidents.c.closed_at.is_(None),
)
_GOLDEN = (
    _because(outcomes.c.decision_id, Hold.GOLDEN)
    .select_from(
        outcomes.join(
            payloads,
            and_(payloads.c.stream == outcomes.c.stream, payloads.c.seq == outcomes.c.seq),
        )
    )
    .where(
        outcomes.c.workspace == _WORKSPACE,
        outcomes.c.decision_id.in_(LISTED),
        outcomes.c.action == _text("edit"),
        func.length(payloads.c.request) > literal_column("0"),
    )
)
_OPEN_MISSION = _because(missions.c.last_decision, Hold.IN_QUEUE).where(
    missions.c.workspace == _WORKSPACE,
    missions.c.last_decision.in_(LISTED),
    missions.c.ended_at.is_(None),
)
"""What was found last of a mission that goes on, or that a person is to say something to."""
_HELD = compiled(
    union_all(_QUEUED, _SHOWN, _TO_DELIVER, _TO_AUDIT, _IN_INCIDENT, _GOLDEN, _OPEN_MISSION)
)


def held(
    fetch: Callable[[Statement, Sequence[Any]], Sequence[Any]],
    workspace: str,
    ids: Sequence[str],
) -> dict[str, set[Hold]]:
    """Return why each of these decisions is still needed; those that are not are left out."""
    if not ids:
        return {}
    found: dict[str, set[Hold]] = {}
    for decision_id, hold in fetch(
        _HELD, _HELD.row({"workspace": workspace, "ids": json_list(ids)})
    ):
        found.setdefault(decision_id, set()).add(Hold(hold))
    return found
