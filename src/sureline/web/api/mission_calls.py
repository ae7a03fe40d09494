"""What each operation on missions does: read the call, ask, show the mission (M1, M7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from sureline.application.mission.evidence_intake import read_evidence
from sureline.application.mission.in_json import event_json, mission_json
from sureline.application.mission.new_mission import Invocation, NewMission
from sureline.application.ports.keys import ApiKey, Role
from sureline.core.gate.acting import acting
from sureline.core.values.mission import Mission, MissionState
from sureline.errors import Conflict, MissionRefused, NotFound
from sureline.web.access import check_slice
from sureline.web.api.mission_access import filter_of, mission_of, slice_of
from sureline.web.api.mission_acts import act_on
from sureline.web.api.mission_refusals import at_work, not_running
from sureline.web.operation import Call, QueryNumber, QueryWords
from sureline.web.reply import Reply

LIMIT = QueryNumber(
    name="limit", about="How many to return at most.", default=50.0, least=1.0, most=1_000.0
)
OFFSET = QueryNumber(
    name="offset", about="How many to leave out first.", default=0.0, least=0.0, most=1e6
)
STATES = QueryWords(
    name="states",
    about="Those in any of these states only.",
    choices=tuple(one.value for one in MissionState),
)
KINDS = QueryWords(name="kinds", about="Those of any of these kinds only.")


async def create(call: Call) -> Reply:
    """Make a mission: 201 if it is new, 200 if it was there already under this id."""
    body, services = call.body, call.context.services
    check_slice(call.key, slice_of(body["kind"]))
    given = {name: value for name, value in body.items() if value is not None}
    wanted = NewMission(
        **{**given, "criteria": tuple(given.get("criteria", ()))},
        submitted_by=call.key.name,
    )
    found = wanted.id and await services.store.missions.mission(services.workspace, wanted.id)
    if found:
        await mission_of(services, call.key, found.id)  # another agent's is not there for it
    made = await services.missions.create(wanted)
    call.context.mission_counts.forget()
    return _shown(call, made, status=200 if found else 201)


async def index(call: Call) -> Reply:
    """Return the missions that the key may see."""
    services = call.context.services
    states = STATES.read(call)
    wanted = filter_of(
        call.key,
        states=None if states is None else {MissionState(one) for one in states},
        kinds=KINDS.read(call),
    )
    found = await services.missions.list(
        wanted, limit=int(LIMIT.read(call)), offset=int(OFFSET.read(call))
    )
    now, told = services.clock.now(), _sees_thresholds(call)
    return Reply.json({"missions": [mission_json(one, now=now, thresholds=told) for one in found]})


async def show(call: Call) -> Reply:
    """Return a mission as it stands."""
    return _shown(call, await _seen(call))


async def events(call: Call) -> Reply:
    """Return a mission's timeline."""
    mission = await _seen(call)
    found = await call.context.services.missions.events(mission.id)
    told = _sees_thresholds(call)
    return Reply.json({"events": [event_json(one, thresholds=told) for one in found]})


async def begin(call: Call) -> Reply:
    """Begin the next invocation, or say why none may run."""
    mission, services, owner = await _seen(call), call.context.services, owner_of(call.key)
    try:
        begun = await services.missions.begin(mission.id, owner=owner)
    except MissionRefused as refused:
        raise at_work(refused, owner, services.clock.now()) from refused
    return _invocation(begun.mission_id, begun.number, begun.until)


async def heartbeat(call: Call) -> Reply:
    """Say that an invocation goes on."""
    running = await _running(call)
    longer = await call.context.services.missions.renew(running.mission_id, running)
    return _invocation(longer.mission_id, longer.number, longer.until)


async def end(call: Call) -> Reply:
    """Take in what an invocation did."""
    evidence = read_evidence(call.body)
    running = await _running(call)
    missions = call.context.services.missions
    try:
        ended = await missions.end(running.mission_id, running, evidence)
    except Conflict as refused:
        events = await missions.events(running.mission_id)
        raise not_running(refused, events, running.mission_id, running.number) from refused
    return _shown(call, ended)


async def evaluate(call: Call) -> Reply:
    """Have the mission judged now, within this request.

    An agent may have made what it owes and no more: it could ask until the judge is sure.
    """
    mission, context = await _seen(call), call.context
    only_owed = call.key.role is Role.AGENT
    with context.deciding:
        judged = await context.services.missions.evaluate(
            mission.id, owner=owner_of(call.key), only_owed=only_owed
        )
    context.mission_counts.forget()
    return _shown(call, judged)


def person(act: str) -> Callable[[Call], Awaitable[Reply]]:
    """Return what does one of the things that only people do."""

    async def run(call: Call) -> Reply:
        given = dict(call.body)
        if given.get("criteria") is not None:
            given["criteria"] = tuple(given["criteria"])
        done = await act_on(call.context.services, call.key, await _seen(call), act, given)
        call.context.mission_counts.forget()
        return _shown(call, done)

    return run


async def erase(call: Call) -> Reply:
    """Erase the words of a mission and of its evaluations; figures and codes stay."""
    mission, services = await _seen(call), call.context.services
    await services.missions.erase(
        mission.id, by=acting(call.key.name, field="key"), reason=call.body["reason"]
    )
    call.context.mission_counts.forget()
    return _shown(call, await _seen(call))


def owner_of(key: ApiKey) -> str:
    """Return under which name a key holds an invocation."""
    return f"key:{key.name}"


async def _seen(call: Call) -> Mission:
    return await mission_of(call.context.services, call.key, call.params["id"])


async def _running(call: Call) -> Invocation:
    """Return the invocation that the address names, as this caller's."""
    mission = await _seen(call)
    text = call.params["n"]
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotFound("there is no such invocation")
    return Invocation(
        mission_id=mission.id,
        number=int(text),
        owner=owner_of(call.key),
        until=call.context.services.clock.now(),
    )


def _shown(call: Call, mission: Mission, *, status: int = 200) -> Reply:
    now, told = call.context.services.clock.now(), _sees_thresholds(call)
    return Reply.json(mission_json(mission, now=now, thresholds=told), status=status)


def _sees_thresholds(call: Call) -> bool:
    """Tell whether a key is told how sure a judge must be; whoever is judged is not."""
    return call.key.role is not Role.AGENT


def _invocation(mission_id: str, number: int, until: datetime) -> Reply:
    return Reply.json({"mission_id": mission_id, "number": number, "until": until.isoformat()})
