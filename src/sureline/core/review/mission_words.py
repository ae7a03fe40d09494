"""What people are told of a mission: which, what happened, why, and the figures; no words of it."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from sureline.core.values.mission import Cause
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.notification import Notice, NoticeKind

MISSION = "mission"
"""The fact of a notice that names the mission; with it, the notice is about one."""
CAUSE = "cause"

_HAPPENED = {
    NoticeKind.MISSION_SUSPENDED: "waits for a person",
    NoticeKind.MISSION_REMINDED: "still waits for a person",
    NoticeKind.MISSION_FAILED: "failed",
    NoticeKind.MISSION_COMPLETED: "is completed",
    NoticeKind.MISSION_RECOVERED: "waits for a person no more",
}
_WHY = MappingProxyType(
    {
        Cause.CREATED: "it has not begun",
        Cause.STARTED: "it goes on",
        Cause.ACHIEVED: "the objective is achieved",
        Cause.UNSURE: "the judge is not sure enough",
        Cause.TO_CONFIRM: "called achieved, and a person is to confirm it",
        Cause.LITTLE_EVIDENCE: "called achieved on too little of the evidence",
        Cause.SWITCH: "called achieved while a switch is on",
        Cause.JUDGE_UNAVAILABLE: "the judge does not answer as it should",
        Cause.CHECK_FAILED: "the success check does not work",
        Cause.DEADLINE: "its time is over",
        Cause.CEILING: "it has had all its invocations",
        Cause.BUDGET_TOKENS: "it has used all its tokens",
        Cause.BUDGET_COST: "it has used all its money",
        Cause.BUDGET_CALLS: "it has used all its calls of tools",
        Cause.REPEATED_CALL: "it makes the same call over and over",
        Cause.CALL_CYCLE: "it goes round in a circle of calls",
        Cause.EMPTY_ANSWERS: "it says nothing any more",
        Cause.ERROR_RATE: "too many of its calls fail",
        Cause.UNKNOWN_KIND: "the policy has no such kind any more",
        Cause.PERSON: "a person said so",
    }
)
"""Each cause in words; every one has them."""


def is_of_mission(notice: Notice) -> bool:
    """Tell whether a notice is about a mission."""
    return notice.kind in _HAPPENED


def mission_of(notice: Notice) -> str:
    """Return the id of the mission that a notice is about."""
    return notice.facts.get(MISSION, "")


def mission_line(notice: Notice, plain: Callable[[str], str]) -> str:
    """Say what happened to a mission; `plain` makes harmless what somebody else has chosen.

    Figures are told as they stand in the notice's facts, by their names.
    """
    kind = notice.slice_key.removeprefix(MISSION_SLICE)
    said = f"mission {plain(mission_of(notice))} of {kind} {_HAPPENED[notice.kind]}"
    why = notice.facts.get(CAUSE)
    if why is not None:
        said += f": {_WHY[Cause(why)] if why in set(Cause) else plain(why)}"
    figures = ", ".join(
        f"{name.replace('_', ' ')} {plain(text)}"
        for name, text in sorted(notice.facts.items())
        if name not in {MISSION, CAUSE}
    )
    return f"{said} ({figures})" if figures else said
