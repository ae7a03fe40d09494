"""Missions as pages: those that wait for a person first, and one with all that led to it (M7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta

from sureline.application.mission.new_mission import MOST_CRITERIA, MOST_WORDS
from sureline.application.ports.keys import Role
from sureline.application.ports.ledger import StoredDecision
from sureline.bootstrap import operations_of
from sureline.core.values.certificate import Scale
from sureline.core.values.mission import Mission, MissionState
from sureline.core.values.mission_kind import MissionKind
from sureline.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    PolicyError,
    Refused,
    SurelineError,
    UnknownSlice,
)
from sureline.web.access import may_see
from sureline.web.api.mission_access import filter_of, is_own, mission_of, slice_of
from sureline.web.api.mission_acts import act_on
from sureline.web.pages.decision_page import waits_for_audit
from sureline.web.pages.mission_chart import chart_of
from sureline.web.pages.mission_view import (
    CHANGE,
    EXTEND,
    REVIEWERS,
    acts_of,
    bars_of,
    is_asked,
    reason_of,
    rows_of,
    seen_mark,
    since_of,
    tripped,
)
from sureline.web.pages.mission_words import STATES
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.templates import step
from sureline.web.reply import Reply

PAGE = 50
MOST_EVENTS = 1_000
FIRST_EVENTS = 100
"""Rows of the timeline that are shown at once, the newest."""
LONGEST = 20_000
"""Characters of the objective that are shown; the API has the rest."""
LONGEST_NOTE = 2_000


async def index(visit: Visit) -> Reply:
    """List missions; whoever looks changes nothing."""
    services, key = visit.context.services, visit.signed_in.key
    state, kind = visit.query.get("state", ""), visit.query.get("kind", "")
    offset = visit.number("offset")
    wanted = filter_of(
        key,
        states={MissionState(state)} if state in set(MissionState) else None,
        kinds={kind} if kind else None,
    )
    found = await services.store.missions.list(
        services.workspace, wanted, limit=PAGE + 1, offset=offset
    )
    counts = await services.store.missions.counts(services.workspace)
    now = services.clock.now()
    # Those that wait the longest stand first among those that wait.
    shown = sorted(found[:PAGE], key=lambda one: one.escalation.since if one.escalation else now)
    blind = {one.id for one in shown if await _is_blind(visit, one)}
    kinds = await _kinds(visit)
    untold = await operations_of(services).outbox.read(services.workspace)
    return visit.html(
        "missions.html.j2",
        untold=untold if key.role is not Role.AGENT and not key.slices else None,
        rows=[
            {"one": one, "bars": bars_of(one, now)[:2], "left": one.deadline_at - now}
            for one in shown
        ],
        reason_of=reason_of,
        colours=STATES,
        now=now,
        nothing=timedelta(0),
        # What a reviewer may be asked to judge blind is not told here.
        may_know=lambda one: one.id not in blind,
        more=len(found) > PAGE,
        offset=offset,
        page=PAGE,
        states=list(MissionState),
        kinds=sorted({*kinds, *counts} if not key.slices else _seen(visit, {*kinds, *counts})),
        has_kinds=bool(kinds),
        chosen={"state": state, "kind": kind},
    )


async def show(visit: Visit) -> Reply:
    """Show one mission, or the part of it that moves to a script that asks for that."""
    return await _shown(visit)


async def act(visit: Visit) -> Reply:
    """Do what the pressed button says, and show the mission as it is then."""
    services, key, form = visit.context.services, visit.signed_in.key, visit.form
    mission = await mission_of(services, key, visit.params["id"])
    name = form.get("act", "")
    try:
        _check_seen(form, mission)
        await act_on(services, key, mission, name, _given(name, form))
    except (Conflict, Forbidden, InvalidInput, Refused) as error:
        return await _shown(visit, refused=error)
    visit.context.mission_counts.forget()
    return redirect(f"/missions/{step(mission.id)}?done={step(name)}")


async def _shown(visit: Visit, *, refused: SurelineError | None = None) -> Reply:
    services, key = visit.context.services, visit.signed_in.key
    mission = await mission_of(services, key, visit.params["id"])
    events = await services.store.missions.events(services.workspace, mission.id, limit=MOST_EVENTS)
    now = services.clock.now()
    kind = (await _kinds(visit)).get(mission.kind)
    blind = await _is_blind(visit, mission)
    rows = rows_of(events)
    threshold = None if kind is None else await _threshold(visit, kind)
    return visit.html(
        "mission_live.html.j2" if visit.is_fragment else "mission.html.j2",
        status=200 if refused is None else refused.status,
        error=None if refused is None else refused.message,
        one=mission,
        kind=kind,
        slice_key=slice_of(mission.kind),
        colour=STATES[mission.state],
        reason=reason_of(mission),
        tripped=[] if blind else tripped(mission, events),
        bars=bars_of(mission, now),
        left=mission.deadline_at - now,
        nothing=timedelta(0),
        now=now,
        since=since_of(mission, events),
        blind=blind,
        acts=acts_of(key, mission),
        is_asked=is_asked(mission),
        own=is_own(key, mission) and key.role in REVIEWERS,
        seen=seen_mark(mission),
        chart=chart_of(mission, events, threshold=threshold),
        rows=rows if "all" in visit.query else rows[:FIRST_EVENTS],
        row_count=len(rows),
        most_events=MOST_EVENTS,
        is_cut=len(events) >= MOST_EVENTS,
        objective=mission.objective[:LONGEST],
        left_out=max(0, len(mission.objective) - LONGEST),
        done=visit.query.get("done", "") if refused is None else "",
        typed=visit.form if refused is not None else {},
    )


async def _kinds(visit: Visit) -> Mapping[str, MissionKind]:
    """Return the kinds of the policy that a key may see; none where there is no policy."""
    try:
        policy = await visit.context.services.policies.latest()
    except PolicyError:
        return {}
    seen = _seen(visit, policy.missions)
    return {name: kind for name, kind in policy.missions.items() if name in seen}


async def _threshold(visit: Visit, kind: MissionKind) -> float | None:
    """Return the confidence from which the judge is believed now; None on a scale of its own."""
    try:
        current = await visit.context.services.currents.latest(kind.slice_key)
    except (PolicyError, UnknownSlice):
        return kind.confidence
    certificate = current.certificate
    if certificate is None:
        return kind.confidence
    return certificate.threshold if certificate.scale is Scale.COMPOSITE else None


def _seen(visit: Visit, kinds: Sequence[str] | Mapping[str, object] | set[str]) -> set[str]:
    return {one for one in kinds if may_see(visit.signed_in.key, slice_of(one))}


async def _is_blind(visit: Visit, mission: Mission) -> bool:
    """Tell whether this person may be the one who is yet to audit what completed the mission."""
    services = visit.context.services
    if visit.signed_in.key.role is not Role.REVIEWER or mission.last is None:
        return False
    decision: StoredDecision | None = await services.seen.decision(
        services.workspace, mission.last.decision_id
    )
    if decision is None:
        return False
    outcomes = await services.seen.outcomes(services.workspace, decision.id)
    return waits_for_audit(json.loads(decision.body), outcomes)


def _check_seen(form: Mapping[str, str], mission: Mission) -> None:
    """Raise Conflict if a person has another verdict or other words before them than there are."""
    if form.get("seen") != seen_mark(mission):
        raise Conflict("it has changed since it was shown; look at it again")


def _given(name: str, form: Mapping[str, str]) -> dict[str, object]:
    """Return what a form says beside its button; a field that is left empty says nothing."""
    note = form.get("note", "").strip()
    if len(note) > LONGEST_NOTE:
        raise InvalidInput(f"at most {LONGEST_NOTE} characters", field="note")
    given: dict[str, object] = {"note": note}
    if name == EXTEND:
        for field, read in _EXTENDED.items():
            text = form.get(field, "").strip()
            if text:
                given[field] = _number(text, field, read)
    if name == CHANGE:
        given |= _words(form)
    return given


def _words(form: Mapping[str, str]) -> dict[str, object]:
    """Read another objective, and other criteria, one in a line."""
    given: dict[str, object] = {}
    objective = form.get("objective", "").strip()
    criteria = [one.strip() for one in form.get("criteria", "").splitlines() if one.strip()]
    if len(objective) > MOST_WORDS or any(len(one) > MOST_WORDS for one in criteria):
        raise InvalidInput(f"at most {MOST_WORDS} characters each", field="objective, criteria")
    if len(criteria) > MOST_CRITERIA:
        raise InvalidInput(f"at most {MOST_CRITERIA} lines", field="criteria")
    if objective:
        given["objective"] = objective
    if criteria:
        given["criteria"] = tuple(criteria)
    return given


def _number(text: str, field: str, read: type[int | float]) -> int | float:
    """Read a number that a person typed; figures and a point, nothing else that Python takes."""
    plain = text.isascii() and len(text) <= 20 and text.replace(".", "", 1).isdigit()
    if not plain or (read is int and "." in text):
        what = "a whole number" if read is int else "a number"
        raise InvalidInput(f"expected {what}, such as 12", field=field)
    return read(text)


_EXTENDED: Mapping[str, type[int | float]] = {
    "hours": float,
    "invocations": int,
    "tokens": int,
    "cost": float,
    "calls": int,
}

PAGES = (
    Page(method="GET", path="/missions", run=index),
    Page(method="GET", path="/missions/{id}", run=show),
    Page(method="POST", path="/missions/{id}", run=act, roles=REVIEWERS),
)
