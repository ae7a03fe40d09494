"""What a person does to a mission: suspend, resume, extend, fail, complete, change (M7, M11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from sureline.core.mission.health import over_budget
from sureline.core.mission.step import Step
from sureline.core.mission.transitions import (
    ACTIVE,
    COMPLETED,
    FAILED,
    NOTE,
    REOPENED,
    SUSPENDED,
    moved,
    stepped,
)
from sureline.core.values.mission import Cause, EventKind, Mission, Tally
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.mission_kind import Budget, MissionKind
from sureline.errors import Conflict, InvalidInput

MOST_HOURS = 24.0 * 3650
MOST_COUNT = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """By how much limits are raised, each a number above 0, None: not at all."""

    hours: float | None = None
    invocations: int | None = None
    tokens: int | None = None
    cost: float | None = None
    calls: int | None = None


_LIMITS = {"hours": False, "invocations": True, "tokens": True, "cost": False, "calls": True}
"""What can be raised, and whether by whole numbers only."""


class Act(Protocol):
    """What a person does to a mission without saying more than a note."""

    def __call__(
        self, mission: Mission, kind: MissionKind, *, by: str, now: datetime, note: str = ""
    ) -> Step:
        """Return the step. Raises Conflict."""


def suspended(
    mission: Mission, kind: MissionKind, *, by: str, now: datetime, note: str = ""
) -> Step:
    """Suspend a mission by hand; what is being judged then counts no more. Raises Conflict."""
    left = replace(mission, evaluating=None)
    return moved(left, kind, SUSPENDED, Cause.PERSON, now=now, by=by, facts=_noted(note))


def resumed(mission: Mission, kind: MissionKind, *, by: str, now: datetime, note: str = "") -> Step:
    """Let a suspended mission go on, as one that is well: what health remembers is forgotten.

    Raises Conflict where it is not suspended, or a limit that is still met would stop it at once.
    """
    if mission.state is not SUSPENDED:
        raise Conflict(f"only a suspended mission is resumed; this one is {mission.state.value}")
    _check_limits(mission, now)
    rested = replace(mission, tally=Tally(), faults=0)
    return moved(rested, kind, ACTIVE, Cause.STARTED, now=now, by=by, facts=_noted(note))


def failed_by(
    mission: Mission, kind: MissionKind, *, by: str, now: datetime, note: str = ""
) -> Step:
    """End a mission as failed. Raises Conflict where it is over."""
    return moved(mission, kind, FAILED, Cause.PERSON, now=now, by=by, facts=_noted(note))


def completed_by(
    mission: Mission, kind: MissionKind, *, by: str, now: datetime, note: str = ""
) -> Step:
    """End a mission as completed. Raises Conflict where it is over."""
    return moved(mission, kind, COMPLETED, Cause.PERSON, now=now, by=by, facts=_noted(note))


def extended(
    mission: Mission,
    kind: MissionKind,
    *,
    by: str,
    now: datetime,
    more: Raise,
    note: str = "",
) -> Step:
    """Raise limits, and reopen a mission that failed by one of them.

    Time is added to the deadline or, where that has passed, to now. A suspended mission stays
    suspended. Raises InvalidInput naming the field, and Conflict for a mission that is over for
    another reason, or that a limit which was not raised would stop at once.
    """
    facts = _raised(more)
    if mission.state.is_over and not (mission.state is FAILED and mission.cause in REOPENED):
        raise Conflict(f"a mission that is {mission.state.value} ({mission.cause.value}) is over")
    if mission.erased:
        raise Conflict("the mission's words were erased: nobody could go on with it")
    after = replace(
        mission,
        deadline_at=_deadline(mission, more, now),
        max_invocations=mission.max_invocations + (more.invocations or 0),
        budget=Budget(
            tokens=_sum(mission.budget.tokens, more.tokens, "tokens"),
            cost=_sum(mission.budget.cost, more.cost, "cost"),
            calls=_sum(mission.budget.calls, more.calls, "calls"),
        ),
    )
    facts |= {"deadline": after.deadline_at.isoformat(), **_noted(note)}
    if mission.state is not FAILED:
        return stepped(mission, after, EventKind.EXTENDED, now=now, by=by, facts=facts)
    _check_limits(after, now)
    return moved(after, kind, ACTIVE, Cause.STARTED, now=now, by=by, facts=facts)


def changed(
    mission: Mission,
    *,
    by: str,
    now: datetime,
    objective: str | None = None,
    criteria: tuple[str, ...] | None = None,
    note: str = "",
) -> Step:
    """Give a mission another objective or other criteria; no verdict on the old ones counts.

    An evaluation is owed where something was done already. Nothing changes where both are what
    they were. Raises Conflict where the mission is over, InvalidInput for an empty objective.
    """
    if mission.state.is_over:
        raise Conflict(f"a mission that is {mission.state.value} is not changed any more")
    if objective is not None and not objective.strip():
        raise InvalidInput("expected what is to be achieved, got nothing", field="objective")
    after = replace(
        mission,
        objective=mission.objective if objective is None else objective,
        criteria=mission.criteria if criteria is None else criteria,
    )
    if after == mission:
        return Step(mission=mission)
    after = replace(
        after,
        revision=mission.revision + 1,
        last=None,
        evaluated=0,
        faults=0,
        evaluating=None,
        owed=mission.owed or mission.evidence != Evidence() or mission.invocations > 0,
    )
    facts = {"revision": after.revision, **_noted(note)}
    return stepped(mission, after, EventKind.CHANGED, now=now, by=by, facts=facts)


def _check_limits(mission: Mission, now: datetime) -> None:
    """Raise Conflict for a limit that would stop the mission at once."""
    if now >= mission.deadline_at:
        raise Conflict("the mission's time is over: extend it by hours first")
    if mission.invocations >= mission.max_invocations and not mission.owed:
        raise Conflict(
            f"the mission has had all of its {mission.max_invocations} invocations: "
            "extend it by invocations first"
        )
    met = over_budget(mission.spent, mission.budget)
    if met is not None and not mission.owed:
        name = met.cause.value.removeprefix("budget_")
        raise Conflict(
            f"the mission has used {met.facts['used']} {name} of {met.facts['limit']}: "
            f"extend it by {name} first"
        )


def _deadline(mission: Mission, more: Raise, now: datetime) -> datetime:
    if more.hours is None:
        return mission.deadline_at
    try:
        return max(mission.deadline_at, now) + timedelta(hours=more.hours)
    except OverflowError:
        raise InvalidInput("expected a deadline before the year 10000", field="hours") from None


def _raised(more: Raise) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, whole in _LIMITS.items():
        value = getattr(more, name)
        if value is not None:
            found[name] = _above_zero(value, name, whole=whole)
    if not found:
        *others, last = _LIMITS
        limits = f"{', '.join(others)} or {last}"
        raise InvalidInput(f"say which limit is raised, and by how much: {limits}")
    return found


def _above_zero(value: object, name: str, *, whole: bool) -> int | float:
    allowed = int if whole else (int, float)
    most = MOST_HOURS if name == "hours" else MOST_COUNT
    if (
        isinstance(value, bool)
        or not isinstance(value, allowed)
        or not 0 < value <= most  # nor is NaN
    ):
        what = "a whole number" if whole else "a number"
        raise InvalidInput(f"expected {what} above 0, at most {most:g}, got {value!r}", field=name)
    return value


def _sum(limit: Any, more: Any, name: str) -> Any:
    if more is None:
        return limit
    if limit is None:
        raise InvalidInput(f"the mission has no limit of {name} to raise", field=name)
    return limit + more


def _noted(note: str) -> Mapping[str, Any]:
    return {NOTE: note} if note.strip() else {}
