"""Whether a mission is well, and within its budget: each answer with its figures (M10)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.values.mission import Cause, Mission, Spent, Tally
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import Budget, HealthLimits, MissionKind

KEPT = 200
"""So many of the latest calls are remembered at least; more where a limit needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """A limit that was met, and the numbers that met it."""

    cause: Cause
    facts: Mapping[str, Any] = field(default_factory=dict)


def counted(tally: Tally, evidence: Evidence, limits: HealthLimits) -> Tally:
    """Return the tally with an invocation's calls.

    An answer is empty if it is nothing but space and no tool was called. One that was not said is
    not empty, unless nothing else was handed in either: a mission that does nothing must trip.
    """
    calls = (*tally.calls, *map(_digest, evidence.calls))
    errors = (*tally.errors, *(call.ok is False for call in evidence.calls))
    empty = tally.empty
    if evidence.answer is not None or evidence.calls or evidence.is_nothing:
        says = bool(evidence.answer and evidence.answer.strip()) or bool(evidence.calls)
        empty = 0 if says else empty + 1
    kept = max(KEPT, len(evidence.calls), _needed(limits))
    return Tally(calls=calls[-kept:], errors=errors[-kept:], empty=empty)


def added(spent: Spent, evidence: Evidence) -> Spent:
    """Return what was spent with an invocation's; what it does not say is counted as unknown."""
    silent = evidence.tokens is None and evidence.cost is None
    return Spent(
        tokens=spent.tokens + (evidence.tokens or 0),
        cost=spent.cost + (evidence.cost or 0.0),
        calls=spent.calls + len(evidence.calls) + evidence.cut.calls,
        unknown=spent.unknown + silent,
    )


def trip(mission: Mission, kind: MissionKind) -> Trip | None:
    """Return the first limit that the mission has met: of its budget, then of its health."""
    return over_budget(mission.spent, mission.budget) or unwell(mission.tally, kind.health)


def over_budget(spent: Spent, budget: Budget) -> Trip | None:
    """Return the first limit of the budget that is used up."""
    for cause, used, most in (
        (Cause.BUDGET_TOKENS, spent.tokens, budget.tokens),
        (Cause.BUDGET_COST, spent.cost, budget.cost),
        (Cause.BUDGET_CALLS, spent.calls, budget.calls),
    ):
        if most is not None and used >= most:
            return Trip(cause=cause, facts={"used": used, "limit": most})
    return None


def unwell(tally: Tally, limits: HealthLimits) -> Trip | None:
    """Return the first limit of its health that was met."""
    return (
        _repeated(tally.calls, limits)
        or _cycle(tally.calls, limits)
        or _empty(tally, limits)
        or _errors(tally.errors, limits)
    )


def _needed(limits: HealthLimits) -> int:
    """Return how many calls must be remembered for each limit to be met one day."""
    cycles = (limits.cycle_repeats or 0) * limits.longest_cycle
    return max(limits.repeated_calls or 0, cycles, limits.error_window)


def _repeated(calls: Sequence[str], limits: HealthLimits) -> Trip | None:
    times = _repeats(calls, 1)
    if limits.repeated_calls is None or times < limits.repeated_calls:
        return None
    return Trip(cause=Cause.REPEATED_CALL, facts={"times": times, "limit": limits.repeated_calls})


def _cycle(calls: Sequence[str], limits: HealthLimits) -> Trip | None:
    if limits.cycle_repeats is None:
        return None
    for length in range(2, limits.longest_cycle + 1):
        times = _repeats(calls, length)
        if times >= limits.cycle_repeats:
            facts = {"length": length, "times": times, "limit": limits.cycle_repeats}
            return Trip(cause=Cause.CALL_CYCLE, facts=facts)
    return None


def _repeats(calls: Sequence[str], length: int) -> int:
    """Return how often in a row a sequence of so many calls was made at most.

    Anywhere, not only at the end: one invocation may make many calls, and end with another one.
    A sequence of more than one call that are all the same is none.
    """
    most = 1 if len(calls) >= length else 0
    run = 0
    for at in range(length, len(calls)):
        run = run + 1 if calls[at] == calls[at - length] else 0
        if length == 1 or len(set(calls[at - length + 1 : at + 1])) > 1:
            most = max(most, run // length + 1)
    return most


def _empty(tally: Tally, limits: HealthLimits) -> Trip | None:
    if limits.empty_answers is None or tally.empty < limits.empty_answers:
        return None
    return Trip(
        cause=Cause.EMPTY_ANSWERS, facts={"times": tally.empty, "limit": limits.empty_answers}
    )


def _errors(errors: Sequence[bool], limits: HealthLimits) -> Trip | None:
    if limits.error_rate is None or len(errors) < limits.error_window:
        return None
    latest = errors[-limits.error_window :]
    failed = sum(latest)
    if failed / len(latest) < limits.error_rate:
        return None
    facts = {"failed": failed, "calls": len(latest), "limit": limits.error_rate}
    return Trip(cause=Cause.ERROR_RATE, facts=facts)


def _digest(call: ToolCall) -> str:
    """Return what two equal calls have in common: name and arguments, whatever came of them."""
    return hashlib.sha256(canonical_json([call.name, call.arguments])).hexdigest()[:16]
