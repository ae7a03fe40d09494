"""What is asked for when a mission is made, and the mission that comes of it (M1)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Required

from typing_extensions import TypedDict

from sureline.core.mission.step import Step
from sureline.core.mission.transitions import event_of
from sureline.core.values.mission import Cause, EventKind, Mission, MissionState
from sureline.core.values.mission_kind import MissionKind
from sureline.errors import Conflict, InvalidInput

MOST_WORDS = 20_000
"""Characters of an objective, or of a criterion."""
MOST_CRITERIA = 100
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMission:
    """A mission that somebody asks for; limits may only be tighter than those of its kind.

    `id` is the idempotency key, None lets sureline choose one. `submitted_by` is the name of the
    API key that brought it, `subject` whom it is about. `has_check` says that whoever drives it has
    a success check, so that it can be judged where its kind has no judge.
    """

    kind: str
    objective: str
    criteria: tuple[str, ...] = ()
    id: str | None = None
    submitted_by: str | None = None
    subject: str | None = None
    hours: float | None = None
    max_invocations: int | None = None
    has_check: bool = False


class MissionFields(TypedDict, total=False):
    """The fields of a new mission, as a program gives them."""

    objective: Required[str]
    criteria: tuple[str, ...]
    id: str | None
    subject: str | None
    hours: float | None
    max_invocations: int | None


def new_mission(kind: str, asked: Mapping[str, Any], *, has_check: bool) -> NewMission:
    """Return what a program asks for. Raises InvalidInput naming a field that there is not."""
    known = sorted(MissionFields.__required_keys__ | MissionFields.__optional_keys__)
    for name in asked:
        if name not in known:
            raise InvalidInput(
                f"there is no such field (there are: {', '.join(known)})", field=name
            )
    if "objective" not in asked:
        raise InvalidInput("expected what is to be achieved, a text", field="objective")
    return NewMission(kind=kind, has_check=has_check, **asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """An invocation that may run; `number` counts from 1, `until` is how long it is believed."""

    mission_id: str
    number: int
    owner: str
    until: datetime


def created(
    new: NewMission, kind: MissionKind, *, mission_id: str, workspace: str, now: datetime
) -> Step:
    """Return the first step of a mission. Raises InvalidInput naming the field."""
    _check_words(new)
    mission = Mission(
        workspace=workspace,
        id=_checked_id(mission_id),
        kind=kind.name,
        objective=new.objective,
        criteria=tuple(new.criteria),
        state=MissionState.CREATED,
        cause=Cause.CREATED,
        created_at=now,
        updated_at=now,
        deadline_at=now + timedelta(hours=_hours(new.hours, kind.timeout_hours)),
        max_invocations=_invocations(new.max_invocations, kind.max_invocations),
        budget=kind.budget,
        submitted_by=new.submitted_by,
        subject=new.subject,
    )
    return Step(mission=mission, events=(event_of(mission, EventKind.CREATED, now=now),))


def check_same(stored: Mission, asked: Mission) -> None:
    """Raise Conflict where an id was used for another mission (as G30 has it for decisions)."""
    if stored.erased or (stored.kind, stored.objective, stored.criteria, stored.submitted_by) != (
        asked.kind,
        asked.objective,
        asked.criteria,
        asked.submitted_by,
    ):
        raise Conflict(
            f"the id {stored.id!r} belongs to a mission with another objective, other criteria or "
            "of another kind; use a new id, or change that mission's objective"
        )


def _checked_id(mission_id: object) -> str:
    if not isinstance(mission_id, str) or not _ID.fullmatch(mission_id):
        raise InvalidInput(
            'expected up to 100 letters, digits, "_", "-" and ".", the first a letter or a digit',
            field="id",
        )
    return mission_id


def _check_words(new: NewMission) -> None:
    if not isinstance(new.objective, str) or not new.objective.strip():
        raise InvalidInput("expected what is to be achieved, a text", field="objective")
    if not isinstance(new.criteria, tuple | list) or len(new.criteria) > MOST_CRITERIA:
        raise InvalidInput(f"expected a list of at most {MOST_CRITERIA} texts", field="criteria")
    for index, one in enumerate(new.criteria):
        if not isinstance(one, str) or not one.strip():
            raise InvalidInput("expected a text", field=f"criteria.{index}")
    for field, text in (("objective", new.objective), *(("criteria", one) for one in new.criteria)):
        if len(text) > MOST_WORDS:
            raise InvalidInput(f"expected at most {MOST_WORDS:,} characters", field=field)


def _hours(wanted: object, most: float) -> float:
    if wanted is None:
        return most
    if (
        isinstance(wanted, bool)
        or not isinstance(wanted, int | float)
        or not math.isfinite(wanted)
        or not 0 < wanted <= most
    ):
        raise InvalidInput(f"expected a number above 0, at most the kind's {most:g}", field="hours")
    return float(wanted)


def _invocations(wanted: object, most: int) -> int:
    if wanted is None:
        return most
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 < wanted <= most:
        raise InvalidInput(
            f"expected a whole number above 0, at most the kind's {most}", field="max_invocations"
        )
    return wanted
