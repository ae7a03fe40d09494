"""What a judge is shown of a mission, and how much of what happened that is (M2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sureline.core.mission.gathering import bounded, characters, written
from sureline.core.opinions.shown import Shown
from sureline.core.values.mission import LastEvaluation, Mission
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import MissionKind


@dataclass(frozen=True, slots=True)
class Counted:
    """How many there are here of how many that were handed in."""

    included: int
    total: int

    @property
    def share(self) -> float:
        """Return the share that is here, in [0, 1]; all of nothing is 1."""
        return self.included / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The texts that a judge is shown, each with its label, and what was cut from them.

    `characters` are those of the turns, calls and texts that are here. `completeness` in [0, 1] is
    the smaller of the shares of turns and calls, times the share of characters; 0 where nothing
    was handed in: of nothing nobody can be sure.
    """

    shown: Shown
    turns: Counted
    calls: Counted
    characters: Counted
    completeness: float

    @property
    def sentence(self) -> str:
        """Return in our words how much is here; figures only."""
        if not self.characters.total:
            return "The actor handed in no evidence at all."
        whole = f"{self.turns.total} turns and {self.calls.total} calls of tools"
        if self.completeness >= 1.0:
            return f"Of what was handed in all is shown: {whole}."
        cut = self.characters.total - self.characters.included
        return (
            f"Of {whole} that were handed in, the newest are shown: {self.turns.included} turns "
            f"and {self.calls.included} calls. {cut} characters of these are left out, where a "
            "mark says so. What is not shown was not seen by you: it speaks neither for nor "
            "against the objective."
        )


def bundle(mission: Mission, kind: MissionKind) -> Bundle:
    """Return what a judge is shown of a mission, within the kind's bound.

    The actor's name for itself, what it took and what it thinks of its work are no part of it.
    Raises InvalidInput for a state, argument or result that is no JSON value.
    """
    evidence = bounded(mission.evidence, kind.evidence_characters)
    cut, size = evidence.cut, characters(evidence)
    # One that began and of which nothing was handed in yet was not heard of again.
    unheard = 0 if mission.running is None else 1
    turns = Counted(len(evidence.conversation), len(evidence.conversation) + cut.turns + unheard)
    calls = Counted(len(evidence.calls), len(evidence.calls) + cut.calls)
    texts = Counted(size, size + cut.characters)
    share = min(turns.share, calls.share) * texts.share if size else 0.0
    return Bundle(
        shown=Shown(_parts(mission, evidence)),
        turns=turns,
        calls=calls,
        characters=texts,
        completeness=share,
    )


def _parts(mission: Mission, evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Return the parts that there are; the conversation comes before what tools answered."""
    turns = [{"role": one.role, "text": one.text} for one in evidence.conversation]
    parts = {
        "OBJECTIVE": mission.objective,
        "CRITERIA": _lines(mission.criteria),
        "EARLIER EVALUATION": _earlier(mission.last),
        "TRIGGER": evidence.trigger or "",
        "CONVERSATION": _lines(turns),
        "TOOL CALLS": _lines([_call(one) for one in evidence.calls]),
        "STATE": written(evidence.state),
        "FINAL ANSWER": evidence.answer or "",
    }
    return tuple((label, text) for label, text in parts.items() if text)


def _call(call: ToolCall) -> dict[str, Any]:
    fields = {"name": call.name, "arguments": call.arguments, "result": call.result, "ok": call.ok}
    return {name: value for name, value in fields.items() if value is not None}


def _earlier(last: LastEvaluation | None) -> str:
    """Return what was found at the last evaluation, but not how sure of it its judge was."""
    if last is None or last.achieved is None:
        return ""
    found = {
        "after_invocation": last.invocation,
        "achieved": last.achieved,
        "reasoning": last.reasoning,
        "progress": last.progress,
    }
    return json.dumps(found, ensure_ascii=False)


def _lines(items: Sequence[Any]) -> str:
    """Return items as JSON, one a line, so that no item can pass for two."""
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in items)
