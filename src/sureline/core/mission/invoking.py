"""An invocation: whether it may begin, that it goes on, and what it leaves behind (M5, M7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sureline.core.mission.gathering import gathered
from sureline.core.mission.health import Trip, added, counted, over_budget, trip, unwell
from sureline.core.mission.step import Step
from sureline.core.mission.timing import timed_out
from sureline.core.mission.transitions import (
    ACTIVE,
    CREATED,
    FAILED,
    SUSPENDED,
    moved,
    stepped,
    then,
)
from sureline.core.values.mission import Cause, EventKind, Lease, Mission, MissionState
from sureline.core.values.mission_evidence import Cut, Evidence
from sureline.core.values.mission_kind import MissionKind
from sureline.errors import Conflict

EVIDENCE_KEPT = 4
"""A mission keeps so many times what its judge is shown."""

NOT_SHOWN = Evidence(cut=Cut(turns=1))
"""What is known of an invocation that handed in nothing: that there was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why no invocation begins: a code, and a sentence for whoever asked.

    `until` is when the lease of whoever is at work on the mission ends, None if nobody is.
    """

    code: str
    sentence: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What asking for an invocation changed; it may not run where there is a refusal."""

    step: Step
    refusal: Refusal | None = None


_STATES = {
    MissionState.SUSPENDED: "the mission is suspended ({cause}): a person must resume it",
    MissionState.COMPLETED: "the mission is completed",
    MissionState.FAILED: "the mission has failed ({cause})",
}


def begun(
    mission: Mission,
    kind: MissionKind,
    *,
    owner: str,
    now: datetime,
    until: datetime,
    overdue: bool,
    switched: bool,
    known: bool = True,
) -> Begun:
    """Begin the next invocation for `owner`, believed to run until `until`, or refuse it.

    Codes: `suspended`, `completed`, `failed`, `busy` (one is running), `unknown_kind` (the policy
    has it no more: not `known`), `evaluation_owed`, `switch`.
    A mission whose time or invocations are over fails here, one whose budget is used up is
    suspended, as is one of an unknown kind, and nothing runs any more.
    """
    refused = _before_all(mission, kind, now=now, overdue=overdue)
    if refused is not None:
        return refused
    if not known:
        stop = moved(mission, kind, SUSPENDED, Cause.UNKNOWN_KIND, now=now)
        return _refused(stop, "unknown_kind", unknown_kind(mission))
    found = Step(mission=mission) if mission.running is None else _lost(mission, kind, now)
    refused = _before_this(found, kind, now=now, switched=switched)
    if refused is not None:
        return refused
    if mission.state is CREATED:
        found = then(found, moved(found.mission, kind, ACTIVE, Cause.STARTED, now=now))
    before = found.mission
    after = replace(
        before,
        invocations=before.invocations + 1,
        running=Lease(owner=owner, since=now, until=until),
    )
    return Begun(step=then(found, stepped(before, after, EventKind.INVOCATION_BEGUN, now=now)))


def unknown_kind(mission: Mission) -> str:
    """Say why nothing goes on where the policy has lost the mission's kind, and what to do."""
    return (
        f"the policy has no kind of mission {mission.kind!r} any more, so nothing goes on: "
        "put the kind back, and then resume the mission, or let it fail"
    )


def _before_all(
    mission: Mission, kind: MissionKind, *, now: datetime, overdue: bool
) -> Begun | None:
    """Refuse what is not at work, out of time, or busy."""
    here = Step(mission=mission)
    if mission.state.is_over:
        return _stopped(here)
    if overdue or now >= mission.deadline_at:
        if mission.evaluating is not None and mission.evaluating.holds(now):
            sentence = "an evaluation is under way"
            return _refused(here, "evaluation_owed", sentence, mission.evaluating)
        return _stopped(timed_out(mission, kind, now=now))
    if mission.state is SUSPENDED:
        return _stopped(here)
    if mission.running is not None and mission.running.holds(now):
        sentence = "an invocation of this mission is running already"
        return _refused(here, "busy", sentence, mission.running)
    return None


def _before_this(found: Step, kind: MissionKind, *, now: datetime, switched: bool) -> Begun | None:
    """Refuse an invocation too many, one that would go on unjudged, and any under a switch."""
    mission = found.mission
    if mission.owed:
        sentence = "an evaluation is owed first: no mission goes on unjudged"
        at_work = mission.evaluating
        live = at_work if at_work is not None and at_work.holds(now) else None
        return _refused(found, "evaluation_owed", sentence, live)
    if mission.invocations >= mission.max_invocations:
        facts = {"invocations": mission.invocations, "limit": mission.max_invocations}
        failed = moved(mission, kind, FAILED, Cause.CEILING, now=now, facts=facts)
        return _stopped(then(found, failed))
    met = over_budget(mission.spent, mission.budget)
    if met is not None:
        return _stopped(then(found, tripped(mission, kind, met, now=now)))
    if switched:
        return _refused(found, "switch", "a kill switch is on: no mission goes on until it is off")
    return None


def renewed(
    mission: Mission, *, owner: str, invocation: int, now: datetime, until: datetime
) -> Step:
    """Return the mission with a longer lease. Raises Conflict if it is another's by now."""
    lease = _own(mission, owner, invocation)
    # What a clock that was ahead has promised is not made true by renewing it.
    later = max(until, lease.until) if lease.holds(now) else until
    longer = replace(lease, since=now, until=later)
    after = replace(mission, running=longer, version=mission.version + 1)
    return Step(mission=after)


def ended(
    mission: Mission,
    kind: MissionKind,
    *,
    owner: str,
    invocation: int,
    evidence: Evidence,
    now: datetime,
) -> Step:
    """Take in what an invocation did: evidence, what it took, whether the mission is well.

    A limit that is met suspends the mission; the budget's not before an evaluation that is owed
    now: the work may be done. What was suspended or ended meanwhile stays so, and its evidence is
    taken in all the same. Raises Conflict if the invocation is another's by now.
    """
    lease = _own(mission, owner, invocation)
    after = replace(
        _known(mission, kind, evidence),
        running=None,
        tally=counted(mission.tally, evidence, kind.health),
        spent=added(mission.spent, evidence),
    )
    facts = _figures(evidence)
    if _is_late(mission, lease, now):
        after, facts = _unjudged(after), {**facts, "late": True}
    after = replace(after, owed=owes(after, kind))
    step = stepped(mission, after, EventKind.INVOCATION_ENDED, now=now, facts=facts)
    if mission.state is not ACTIVE:
        return step
    met = unwell(after.tally, kind.health) if after.owed else trip(after, kind)
    return step if met is None else then(step, tripped(step.mission, kind, met, now=now))


def tripped(mission: Mission, kind: MissionKind, met: Trip, *, now: datetime) -> Step:
    """Return the mission suspended for a limit that it has met, with the figures."""
    return moved(mission, kind, SUSPENDED, met.cause, now=now, facts=met.facts)


def _figures(evidence: Evidence) -> dict[str, Any]:
    calls = len(evidence.calls) + evidence.cut.calls
    return {"calls": calls, "tokens": evidence.tokens, "cost": evidence.cost}


def _known(mission: Mission, kind: MissionKind, evidence: Evidence) -> Mission:
    """Return the mission with the evidence of its latest invocation.

    Where there is none, one turn more was not shown: silence must not make a judge surer.
    """
    known = gathered(
        mission.evidence,
        replace(evidence, cut=NOT_SHOWN.cut) if evidence.is_nothing else evidence,
        fresh=mission.evaluated >= mission.invocations - 1,
        most=kind.evidence_characters * EVIDENCE_KEPT,
    )
    return replace(mission, evidence=known)


def _is_late(mission: Mission, lease: Lease, now: datetime) -> bool:
    """Tell whether the latest invocation was judged, or is being judged, without its evidence."""
    if mission.state is MissionState.COMPLETED:
        return False
    judged = mission.evaluated >= mission.invocations
    return judged or (mission.evaluating is not None and not lease.holds(now))


def _unjudged(mission: Mission) -> Mission:
    """Return the mission of which another evaluation is owed; the one without it counts no more.

    It is another revision: a verdict on its way is of the earlier one, the next has its own id.
    """
    return replace(
        mission,
        revision=mission.revision + 1,
        evaluated=min(mission.evaluated, mission.invocations - 1),
        evaluating=None,
        faults=0,
        owed=True,
    )


def owes(mission: Mission, kind: MissionKind) -> bool:
    """Tell whether an evaluation must come first: every so many invocations, and at the last.

    One that is still running is none to look at yet: it is asked again when it has ended.
    """
    new = mission.invocations - mission.evaluated
    if mission.owed or mission.running is not None or new <= 0:
        return mission.owed
    return new >= kind.evaluate_every or mission.invocations >= mission.max_invocations


def _lost(mission: Mission, kind: MissionKind, now: datetime) -> Step:
    """Return the mission without an invocation that was not heard of again; it was one."""
    spent = replace(mission.spent, unknown=mission.spent.unknown + 1)
    after = replace(_known(mission, kind, NOT_SHOWN), running=None, spent=spent)
    after = replace(after, owed=owes(after, kind))
    facts = {"since": mission.running.until.isoformat()} if mission.running else {}
    return stepped(mission, after, EventKind.INVOCATION_LOST, now=now, facts=facts)


def _own(mission: Mission, owner: str, invocation: int) -> Lease:
    lease = mission.running
    if lease is None or lease.owner != owner or mission.invocations != invocation:
        raise Conflict(
            f"invocation {invocation} of mission {mission.id!r} is not running for this caller: "
            "it has ended, or was lost and another was begun"
        )
    return lease


def _stopped(step: Step) -> Begun:
    mission = step.mission
    sentence = _STATES[mission.state].format(cause=mission.cause.value)
    return _refused(step, mission.state.value, sentence)


def _refused(step: Step, code: str, sentence: str, lease: Lease | None = None) -> Begun:
    until = None if lease is None else lease.until
    return Begun(step=step, refusal=Refusal(code=code, sentence=sentence, until=until))
