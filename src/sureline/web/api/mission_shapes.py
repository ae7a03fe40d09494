"""What bodies and answers about missions look like."""

from __future__ import annotations

from typing import Annotated, Any, Required

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from sureline.application.mission.new_mission import MOST_CRITERIA, MOST_WORDS
from sureline.core.values.mission import Cause, EventKind, MissionState
from sureline.web.api.shapes import Moment, Name, Sentence, Unit

Words = Annotated[str, Field(min_length=1, max_length=MOST_WORDS, pattern=r"\S")]
Criteria = Annotated[list[Words], Field(max_length=MOST_CRITERIA)]
Note = Annotated[str, Field(max_length=2_000)]
MissionId = Annotated[
    str,
    Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"),
]
Hours = Annotated[float, Field(gt=0.0, le=87_600.0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0, le=10**12)]
Dollars = Annotated[float, Field(gt=0.0, le=1e12, allow_inf_nan=False)]


def _forbid(example: dict[str, JsonValue]) -> ConfigDict:
    """Return how a body is read, with an example of one."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [example]})


_NEW: dict[str, JsonValue] = {
    "id": "march-disputes",
    "kind": "reconciliation",
    "objective": "Close the six open disputes of the March ledger.",
    "criteria": ["every dispute is closed", "the ledger balances to the cent"],
    "max_invocations": 20,
}


@with_config(_forbid(_NEW))
class NewMissionFields(TypedDict, total=False):
    """A mission of a kind that the policy names; `hours` and `max_invocations` only tighten it.

    The same `id` with the same content gives the stored mission again. `subject` is whom it is
    about, for an erasure.
    """

    kind: Required[Name]
    objective: Required[Words]
    criteria: Criteria | None
    id: MissionId | None
    subject: Name | None
    hours: Hours | None
    max_invocations: Count | None


@with_config(_forbid({"note": "the sixth is still open"}))
class NoteFields(TypedDict, total=False):
    """Why, for the timeline, where it stays for ever."""

    note: Note


@with_config(_forbid({"hours": 12, "invocations": 10}))
class ExtendFields(NoteFields, total=False):
    """By how much limits are raised; `cost` is in US dollars."""

    hours: Hours | None
    invocations: Count | None
    tokens: Count | None
    cost: Dollars | None
    calls: Count | None


@with_config(_forbid({"objective": "Close the five that are left."}))
class ObjectiveFields(NoteFields, total=False):
    """What the mission is for from now on; what was judged before counts no more."""

    objective: Words | None
    criteria: Criteria | None


@with_config(_forbid({"reason": "asked for by customer 17"}))
class EraseFields(TypedDict):
    """Why the words go."""

    reason: Sentence


class SpentShape(TypedDict):
    """What was taken; `unknown` counts invocations that did not say."""

    tokens: int
    cost: float
    calls: int
    unknown: int


class BudgetShape(TypedDict):
    """What may be taken; null for no limit."""

    tokens: int | None
    cost: float | None
    calls: int | None


class LastEvaluationShape(TypedDict):
    """The evaluation that counts now; `reasoning` and `progress` are a judge's words."""

    decision_id: str
    invocation: int
    at: Moment
    achieved: bool | None
    confidence: Unit | None
    fault: str | None
    reasoning: str | None
    progress: str | None


class EscalationShape(TypedDict):
    """What a person was called for."""

    cause: Cause
    since: Moment
    reminded: int
    remind_at: Moment | None
    facts: dict[str, Any]


class MissionShape(TypedDict):
    """A mission as it stands; `summary` is what the actor may be told of it."""

    id: str
    kind: str
    objective: str
    criteria: list[str]
    revision: int
    state: MissionState
    cause: Cause
    created_at: Moment
    updated_at: Moment
    ended_at: Moment | None
    deadline_at: Moment
    invocations: int
    max_invocations: int
    running_until: Moment | None
    evaluation_owed: bool
    evaluated: int
    spent: SpentShape
    budget: BudgetShape
    last_evaluation: LastEvaluationShape | None
    escalation: EscalationShape | None
    submitted_by: str | None
    erased: bool
    summary: str


class MissionsShape(TypedDict):
    """Missions: those that wait for a person first, then by their latest change."""

    missions: list[MissionShape]


class MissionEventShape(TypedDict):
    """One row of the timeline: codes, figures and names."""

    mission_id: str
    kind: EventKind
    at: Moment
    state: MissionState
    cause: Cause
    invocation: int
    by: str | None
    facts: dict[str, Any]


class MissionEventsShape(TypedDict):
    """The latest rows of a timeline, oldest first."""

    events: list[MissionEventShape]


class InvocationShape(TypedDict):
    """An invocation that may run; it is believed to until `until`, unless it is heard of."""

    mission_id: str
    number: int
    until: Moment
