"""What the pages say of missions: why one stands as it does, and what a person can do about it."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from sureline.core.values.mission import Cause, EventKind, MissionState


class Said(NamedTuple):
    """Why a mission is in its state, and what is to be done while it waits for a person."""

    why: str
    then: str = ""


_ANSWER = (
    "Look at what was done. Complete it if the objective is achieved; resume it if it is not, or "
    "let it fail. Your answer is kept as the label of this evaluation."
)
_LIMIT = "Raise that limit to let it go on, then resume it; or let it fail."
_HEALTH = "Look at what it does. Resuming clears what was counted; or let it fail."

CAUSES = MappingProxyType(
    {
        Cause.CREATED: Said("It has not begun."),
        Cause.STARTED: Said("It goes on."),
        Cause.ACHIEVED: Said("The objective is achieved, says a check or a judge that is sure."),
        Cause.UNSURE: Said("The judge is not sure enough.", _ANSWER),
        Cause.TO_CONFIRM: Said(
            "The judge calls it achieved, and a person completes missions of this kind.", _ANSWER
        ),
        Cause.LITTLE_EVIDENCE: Said(
            "The judge calls it achieved, and was shown too little of the evidence to say so.",
            _ANSWER,
        ),
        Cause.SWITCH: Said(
            "It is called achieved while a switch gives such missions to people.", _ANSWER
        ),
        Cause.JUDGE_UNAVAILABLE: Said(
            "The judge does not answer as it should, so nobody knows how far it is.",
            "Resume it to have the judge asked again, or decide yourself.",
        ),
        Cause.CHECK_FAILED: Said(
            "The success check does not work, so nobody knows how far it is.",
            "Mend the check and resume it, or decide yourself.",
        ),
        Cause.DEADLINE: Said("Its time is over.", "Give it more time to open it again."),
        Cause.CEILING: Said(
            "It has had all its invocations.", "Give it more invocations to open it again."
        ),
        Cause.BUDGET_TOKENS: Said("It has used all its tokens.", _LIMIT),
        Cause.BUDGET_COST: Said("It has used all its money.", _LIMIT),
        Cause.BUDGET_CALLS: Said("It has used all its calls of tools.", _LIMIT),
        Cause.REPEATED_CALL: Said("It makes the same call over and over.", _HEALTH),
        Cause.CALL_CYCLE: Said("It goes round in a circle of calls.", _HEALTH),
        Cause.EMPTY_ANSWERS: Said("It says nothing any more.", _HEALTH),
        Cause.ERROR_RATE: Said("Too many of its calls fail.", _HEALTH),
        Cause.UNKNOWN_KIND: Said(
            "The policy has no such kind any more, so nobody knows what holds for it.",
            "Put the kind back into the policy and resume it; or let it fail.",
        ),
        Cause.PERSON: Said("A person said so.", "Resume it, or let it end here."),
    }
)
"""Every cause has its words."""

EVENTS = MappingProxyType(
    {
        EventKind.CREATED: "created",
        EventKind.STARTED: "started",
        EventKind.INVOCATION_BEGUN: "invocation begun",
        EventKind.INVOCATION_ENDED: "invocation ended",
        EventKind.INVOCATION_LOST: "invocation lost: its process was not heard of again",
        EventKind.TRIGGER_SKIPPED: "trigger skipped: an invocation was running",
        EventKind.EVALUATED: "evaluated",
        EventKind.EVALUATION_FAILED: "evaluation failed",
        EventKind.SUSPENDED: "suspended",
        EventKind.RESUMED: "resumed",
        EventKind.COMPLETED: "completed",
        EventKind.FAILED: "failed",
        EventKind.EXTENDED: "limits raised",
        EventKind.CHANGED: "objective or criteria changed",
        EventKind.REMINDED: "a person was reminded",
        EventKind.RECOVERED: "waits for a person no more",
        EventKind.ERASED: "words erased",
    }
)

STATES = MappingProxyType(
    {
        MissionState.CREATED: "",
        MissionState.ACTIVE: "",
        MissionState.SUSPENDED: "warn",
        MissionState.COMPLETED: "good",
        MissionState.FAILED: "bad",
    }
)
"""How the word of a state is coloured."""
