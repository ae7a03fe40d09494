"""The faults that are put to missions here and elsewhere: the same input, and what is right.

Only the standard library: another package's interpreter imports this as well.
"""

from __future__ import annotations

from dataclasses import dataclass

THRESHOLD = 0.7
PATIENCE = 2.0
"""Seconds after which a judge that never answers is given up by the benchmark itself."""
TURNS = 100
"""So many turns are timed."""


@dataclass(frozen=True)
class Fault:
    """One fault; `reply` is the judge's where one is asked."""

    key: str
    title: str
    right: str
    reply: str = ""


def reply(achieved: str, confidence: str | None) -> str:
    """Return a judge's reply; both are written as they stand, also where that is no JSON."""
    number = "" if confidence is None else f'"confidence": {confidence}, '
    said = '"reasoning": "as far as I can see", "progress_summary": "some", "progress": "some"'
    return f'{{"achieved": {achieved}, {number}{said}}}'


SURE = reply("true", "0.95")
FAULTS = (
    Fault(
        "unsure",
        "not achieved, confidence 0.2; three more turns are tried",
        "suspended, and none of them runs",
        reply("false", "0.2"),
    ),
    Fault("hundredth", "achieved, confidence 0.01", "a person is asked", reply("true", "0.01")),
    Fault("string", 'achieved is `"false"`, a text', "no judgement", reply('"false"', "0.95")),
    Fault("nan", "achieved, confidence NaN", "no judgement", reply("true", "NaN")),
    Fault("percent", "achieved, confidence 85", "no judgement", reply("true", "85")),
    Fault("missing", "achieved, no confidence", "no judgement", reply("true", None)),
    Fault("hung", "a judge that never answers", "given up in time; no judgement"),
    Fault("failing", "a judge that fails", "a failure, told apart from a judgement"),
    Fault("raising", "a success check that raises", "a failure; the judge is not asked", SURE),
    Fault("awaited", "an async success check that says no", "awaited; not achieved", SURE),
    Fault("retried", "a receiver that answers 503 once", "sent again"),
    Fault("signed", "a receiver that checks who sent it", "signed"),
    Fault("heeded", "a receiver that answers 404", "kept, and shown as not delivered"),
    Fault("changed", "criteria change after a verdict", "the verdict is void", SURE),
    Fault("downtime", "8 hours, of which 9 with nothing running", "over before the next turn"),
)


@dataclass(frozen=True)
class Found:
    """What came of a fault, in a few words, and whether that is right."""

    key: str
    said: str
    right: bool
