"""Missions over HTTP: begun by agents, judged by others, answered by people (M1, M7)."""

from __future__ import annotations

from sureline.application.mission.evidence_intake import EvidenceFields
from sureline.application.ports.keys import Role
from sureline.web.api import mission_calls as calls
from sureline.web.api.mission_shapes import (
    EraseFields,
    ExtendFields,
    InvocationShape,
    MissionEventsShape,
    MissionShape,
    MissionsShape,
    NewMissionFields,
    NoteFields,
    ObjectiveFields,
)
from sureline.web.operation import ADMINS, ALL_ROLES, Answer, Operation

_AGENTS = frozenset({Role.AGENT, Role.ADMIN})
_JUDGED = frozenset({Role.AGENT, Role.REVIEWER, Role.ADMIN})
_PEOPLE = frozenset({Role.REVIEWER, Role.ADMIN})
_OTHERS = "Not for whoever brought it."


def _act(act: str, path: str, about: str, body: object = NoteFields) -> Operation:
    names = {"change": "changeObjective"}
    return Operation(
        method="POST",
        path=f"/v1/missions/{{id}}/{path}",
        name=names.get(act, f"{act}Mission"),
        about=about,
        run=calls.person(act),
        roles=_PEOPLE,
        body=body,
        may_be_empty=body is NoteFields,
        answers={200: Answer("The mission as it is now.", MissionShape)},
        problems=frozenset({404, 409}),
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/missions",
        name="createMission",
        about="Make a mission of a kind that the policy names. The same `id` with the same "
        "content gives the stored mission again.",
        run=calls.create,
        roles=_AGENTS,
        body=NewMissionFields,
        answers={
            201: Answer("The mission, just made.", MissionShape),
            200: Answer("The mission that was stored under this id before.", MissionShape),
        },
        problems=frozenset({404, 409}),
    ),
    Operation(
        method="GET",
        path="/v1/missions",
        name="listMissions",
        about="Return missions, those that wait for a person first. An agent sees its own.",
        run=calls.index,
        roles=ALL_ROLES,
        query=(calls.LIMIT, calls.OFFSET, calls.STATES, calls.KINDS),
        answers={200: Answer("The missions.", MissionsShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="GET",
        path="/v1/missions/{id}",
        name="showMission",
        about="Return a mission as it stands, with the summary that its actor may be told.",
        run=calls.show,
        roles=ALL_ROLES,
        answers={200: Answer("The mission.", MissionShape)},
        problems=frozenset({404}),
    ),
    Operation(
        method="GET",
        path="/v1/missions/{id}/events",
        name="listMissionEvents",
        about="Return the latest rows of a mission's timeline, oldest first.",
        run=calls.events,
        roles=ALL_ROLES,
        answers={200: Answer("The timeline.", MissionEventsShape)},
        problems=frozenset({404}),
    ),
    Operation(
        method="POST",
        path="/v1/missions/{id}/invocations",
        name="beginInvocation",
        about="Begin the next invocation; run it only after this has answered 200. 409 says why "
        "none may run: `suspended`, `completed`, `failed`, `busy`, `evaluation_owed` or `switch`. "
        "Where somebody is at work on it, `until` and Retry-After say how long.",
        run=calls.begin,
        roles=_AGENTS,
        answers={200: Answer("The invocation, which may run now.", InvocationShape)},
        problems=frozenset({404, 409, 422}),
    ),
    Operation(
        method="POST",
        path="/v1/missions/{id}/invocations/{n}/heartbeat",
        name="renewInvocation",
        about="Say that an invocation goes on, so that it does not count as lost.",
        run=calls.heartbeat,
        roles=_AGENTS,
        answers={200: Answer("Until when it is believed to run.", InvocationShape)},
        problems=frozenset({404, 409}),
    ),
    Operation(
        method="POST",
        path="/v1/missions/{id}/invocations/{n}",
        name="endInvocation",
        about="End an invocation with what happened in it. `evaluation_owed` says that the mission "
        "must be evaluated before the next one. 409 `ended_already`: it was taken in before.",
        run=calls.end,
        roles=_AGENTS,
        body=EvidenceFields,
        reads_itself=True,
        may_be_empty=True,
        answers={200: Answer("The mission as it is now.", MissionShape)},
        problems=frozenset({404, 409}),
    ),
    Operation(
        method="POST",
        path="/v1/missions/{id}/evaluate",
        name="evaluateMission",
        about="Have the mission judged now, within this request; a judge may take minutes. Who "
        "asks has no say in what is found; an agent may ask for what is owed. Of two "
        "at once one judges, and both get that.",
        run=calls.evaluate,
        roles=_JUDGED,
        answers={200: Answer("The mission as it is now.", MissionShape)},
        problems=frozenset({404, 409, 422}),
    ),
    _act("suspend", "suspend", "Stop a mission until a person resumes it."),
    _act("resume", "resume", "Let a suspended mission go on: it is not achieved. " + _OTHERS),
    _act(
        "extend",
        "extend",
        "Raise limits; one that failed by them goes on. " + _OTHERS,
        ExtendFields,
    ),
    _act("fail", "fail", "End a mission as failed. " + _OTHERS),
    _act("complete", "complete", "End a mission as completed: it is achieved. " + _OTHERS),
    _act(
        "change",
        "objective",
        "Give a mission another objective or other criteria; earlier verdicts count no more. "
        + _OTHERS,
        ObjectiveFields,
    ),
    Operation(
        method="DELETE",
        path="/v1/missions/{id}/words",
        name="eraseMission",
        about="Erase the words of a mission: objective, criteria, evidence, and what its "
        "evaluations say. Figures and codes stay. A mission that is not over fails by it.",
        run=calls.erase,
        roles=ADMINS,
        body=EraseFields,
        answers={200: Answer("The mission as it is now.", MissionShape)},
        problems=frozenset({404, 409}),
    ),
)
