"""Compares where missions stand with what their timelines say, and puts that right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, select, update

from sureline.adapters.storage.mission_rows import COLUMNS, missions
from sureline.adapters.storage.moments import micros_or_none
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import mission_events
from sureline.adapters.storage.transaction import Transaction
from sureline.core.derived_verification import TableComparison, TableReport
from sureline.core.mission.record import mission_from_record, mission_record, standing
from sureline.core.values.mission import Cause, MissionState

Each = Callable[[Statement, Sequence[Any]], Iterable[tuple[Any, ...]]]
"""Runs a query and yields its rows one by one."""

_earlier = mission_events.alias("earlier")
_LATEST = mission_events.c.seq == (
    select(func.max(_earlier.c.seq))
    .where(
        _earlier.c.workspace == mission_events.c.workspace,
        _earlier.c.mission_id == mission_events.c.mission_id,
    )
    .correlate(mission_events)
    .scalar_subquery()
)
_SAID = (mission_events.c.state, mission_events.c.cause)
_OF_MISSION = and_(
    mission_events.c.workspace == missions.c.workspace,
    mission_events.c.mission_id == missions.c.id,
)
_SHOWN = (missions.c.workspace, missions.c.id, missions.c.state, missions.c.cause, missions.c.body)
_STANDING = compiled(
    select(*_SHOWN, *_SAID).select_from(
        missions.outerjoin(mission_events, and_(_OF_MISSION, _LATEST))
    )
)
_GONE = compiled(
    select(mission_events.c.workspace, mission_events.c.mission_id, *_SAID).where(
        _LATEST, ~exists().where(_OF_MISSION)
    )
)
"""Missions of which there is a timeline and no row."""
_ONE = compiled(
    select(missions.c.body, missions.c.words).where(
        missions.c.workspace == bindparam("workspace"), missions.c.id == bindparam("id")
    )
)
_PUT_RIGHT = compiled(
    update(missions)
    .values(
        {
            column.name: bindparam(f"new_{column.name}")
            for column in COLUMNS
            if column.name in {"state", "cause", "waits", "timer_at", "body"}
        }
    )
    .where(missions.c.workspace == bindparam("of_workspace"), missions.c.id == bindparam("of_id"))
)


def compare_missions(each: Each) -> TableReport:
    """Return how the states of missions compare with the last of what happened to each."""
    comparison = TableComparison(missions.name)
    for (workspace, name, state, cause, body), said in _standing(each):
        stored = (state, cause) if standing(body) == (state, cause) else (state, cause, "damaged")
        comparison.add((workspace, name), stored, said)
    for workspace, name, *expected in each(_GONE, ()):
        comparison.add((workspace, name), None, tuple(expected))
    return comparison.report()


def _standing(each: Each) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...] | None]]:
    for row in each(_STANDING, ()):
        shown, said = row[: len(_SHOWN)], row[len(_SHOWN) :]
        yield shown, None if said[0] is None else said


def put_missions_right(transaction: Transaction) -> None:
    """Give each mission the state that its timeline ends with.

    One of which the rest is lost, too, stays damaged: it does not go on.
    """
    wrong = [
        (shown[:2], said)
        for shown, said in _standing(transaction.each)
        if said is not None and not said == shown[2:4] == standing(shown[4])
    ]
    for (workspace, name), (state, cause) in wrong:
        (row,) = transaction.all(_ONE, (workspace, name))
        try:
            mission = replace(
                mission_from_record(*row), state=MissionState(state), cause=Cause(cause)
            )
        except (ValueError, TypeError):
            continue
        values = {
            "new_state": state,
            "new_cause": cause,
            "new_waits": int(mission.state is MissionState.SUSPENDED),
            "new_timer_at": micros_or_none(mission.timer_at),
            "new_body": mission_record(mission)[0],
            "of_workspace": workspace,
            "of_id": name,
        }
        transaction.run(_PUT_RIGHT, _PUT_RIGHT.row(values))
