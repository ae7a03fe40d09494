"""A mission: an agent that works on an objective, turn by turn, until somebody is sure (M1-M12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.mission_kind import Budget


class MissionState(StrEnum):
    """Where a mission stands."""

    CREATED = "created"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    """A person must say how it goes on; no invocation runs."""
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Tell whether nothing runs any more."""
        return self in {MissionState.COMPLETED, MissionState.FAILED}


class Cause(StrEnum):
    """Why a mission is in its state; a code that figures go with."""

    CREATED = "created"
    STARTED = "started"
    ACHIEVED = "achieved"
    """A check, or a judge that is sure enough."""
    UNSURE = "unsure"
    """The judge's confidence is below the threshold."""
    TO_CONFIRM = "to_confirm"
    """Achieved, and completing is a person's to do: `auto_complete` is off."""
    LITTLE_EVIDENCE = "little_evidence"
    """Achieved, as far as the judge was shown; too much of the evidence was cut."""
    SWITCH = "switch"
    """Achieved, while a switch gives this kind of mission to people."""
    JUDGE_UNAVAILABLE = "judge_unavailable"
    CHECK_FAILED = "check_failed"
    DEADLINE = "deadline"
    CEILING = "ceiling"
    BUDGET_TOKENS = "budget_tokens"
    BUDGET_COST = "budget_cost"
    BUDGET_CALLS = "budget_calls"
    REPEATED_CALL = "repeated_call"
    CALL_CYCLE = "call_cycle"
    EMPTY_ANSWERS = "empty_answers"
    ERROR_RATE = "error_rate"
    UNKNOWN_KIND = "unknown_kind"
    """The policy has no such kind any more, so nobody knows what holds for it."""
    PERSON = "person"

    @property
    def is_limit(self) -> bool:
        """Tell whether only a raised limit lets the mission go on."""
        return self in _LIMITS


_LIMITS = frozenset(
    {
        Cause.DEADLINE,
        Cause.CEILING,
        Cause.BUDGET_TOKENS,
        Cause.BUDGET_COST,
        Cause.BUDGET_CALLS,
    }
)


CLOCKS_APART = timedelta(minutes=1)
"""So far may the clocks of two machines be apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who is at work, when they were last heard of, and until when they are believed to be."""

    owner: str
    since: datetime
    until: datetime

    def holds(self, now: datetime) -> bool:
        """Tell whether it is still believed; one of a clock that was ahead is not."""
        return self.since <= now + CLOCKS_APART and now < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a mission has taken: tokens, US dollars, calls of tools; each 0 or more.

    `unknown` counts invocations that did not say what they took: nothing is made up for them.
    """

    tokens: int = 0
    cost: float = 0.0
    calls: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What health is told by (M10): the latest calls, their errors, and empty answers in a row.

    `calls` are short digests of name and arguments, the newest last; `errors` says of each of them
    whether it failed. Digests go with the mission's words: a guessed call could be recognised.
    """

    calls: tuple[str, ...] = ()
    errors: tuple[bool, ...] = ()
    empty: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEvaluation:
    """The evaluation that counts now; `reasoning` and `progress` are a judge's words."""

    decision_id: str
    invocation: int
    at: datetime
    achieved: bool | None
    confidence: float | None
    fault: str | None = None
    reasoning: str | None = None
    progress: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """What a person was called for: told once at its edge, then on a widening schedule (M8).

    `facts` are texts, numbers and truths.
    """

    cause: Cause
    since: datetime
    reminded: int = 0
    remind_at: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mission:
    """A mission as it stands; replaced as a whole at every step, `version` counts them.

    `revision` counts objectives, and evidence that came after its verdict: a verdict on an earlier
    one says nothing of this. `running` is an invocation under way, `evaluating` an evaluation;
    `owed` says that one must come before the next invocation. `evaluated` is the number of the
    latest invocation that was evaluated, `faults` of evaluations in a row that failed.
    `deadline_at` is wall-clock time that counts downtime and suspension. `evidence` is what was
    delivered since the last evaluation, with a tail of earlier.
    `subject` is the id of whom it is about, as its caller says it. It, `objective`, `criteria`,
    `evidence`, `tally` and the words of `last` are erasable.
    """

    workspace: str
    id: str
    kind: str
    objective: str
    criteria: tuple[str, ...]
    state: MissionState
    cause: Cause
    created_at: datetime
    deadline_at: datetime
    max_invocations: int
    budget: Budget
    revision: int = 1
    version: int = 1
    updated_at: datetime
    ended_at: datetime | None = None
    submitted_by: str | None = None
    subject: str | None = None
    invocations: int = 0
    evaluated: int = 0
    owed: bool = False
    faults: int = 0
    running: Lease | None = None
    evaluating: Lease | None = None
    spent: Spent = field(default_factory=Spent)
    tally: Tally = field(default_factory=Tally)
    evidence: Evidence = field(default_factory=Evidence)
    last: LastEvaluation | None = None
    escalation: Escalation | None = None
    erased: bool = False

    @property
    def timer_at(self) -> datetime | None:
        """Return when time alone changes something next: the deadline, or a reminder."""
        moments = [] if self.state.is_over else [self.deadline_at]
        if self.escalation is not None and self.escalation.remind_at is not None:
            moments.append(self.escalation.remind_at)
        return min(moments, default=None)


class EventKind(StrEnum):
    """What happened to a mission."""

    CREATED = "created"
    STARTED = "started"
    INVOCATION_BEGUN = "invocation_begun"
    INVOCATION_ENDED = "invocation_ended"
    INVOCATION_LOST = "invocation_lost"
    """Its process was not heard of again."""
    TRIGGER_SKIPPED = "trigger_skipped"
    """A trigger came while an invocation was running."""
    EVALUATED = "evaluated"
    EVALUATION_FAILED = "evaluation_failed"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    COMPLETED = "completed"
    FAILED = "failed"
    EXTENDED = "extended"
    CHANGED = "changed"
    """Another objective or other criteria: what was judged before counts no more."""
    REMINDED = "reminded"
    RECOVERED = "recovered"
    ERASED = "erased"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionEvent:
    """One row of a mission's timeline, kept for ever: codes, figures and names, no payload.

    `by` is the person who did it, None for sureline itself. `facts` are texts, numbers and truths.
    """

    workspace: str
    mission_id: str
    kind: EventKind
    at: datetime
    state: MissionState
    cause: Cause
    invocation: int
    by: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


WAKING = timedelta(seconds=1)
"""Timers are looked at about that often."""
