"""A slice whose composite is whatever a proposal says, and people who label its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.gate import Gate
from sureline.testing import MOMENT
from tests.cases import doors
from tests.cases.doors import Answer


@dataclass(frozen=True, slots=True)
class ToldSignal:
    """A source that reads its value from the proposal's metadata, whatever is written there."""

    name: str = "told"
    kind: SignalKind = SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        return Signal.measured(self.name, self.kind, (proposal.metadata or {})["told"])


def told_policy(auto: float = 0.8, **more: Any) -> str:
    """Return a policy that composes only what is told, and approves from `auto` on."""
    settings = "".join(f"    {name}: {value}\n" for name, value in more.items())
    return (
        "version: 1\nslices:\n  told:\n    mode: route\n    weights: {told: 1.0}\n"
        "    output: {structured: false}\n    attempts: 1\n    abstain_floor: 0.0\n"
        f"    hypothesis: {{auto: {auto}, reject: 0.0, allow_uncertified: true, "
        f"starts: {MOMENT.date()}}}\n{settings}"
    )


def told(score: Any, **more: Any) -> dict[str, Any]:
    """Return a proposal whose composite is `score`."""
    return {
        "slice_key": "told",
        "task": "Say it",
        "output": "It is said.",
        "metadata": {"told": score},
        **more,
    }


def ask(gate: Gate, score: Any, **more: Any) -> Answer:
    return doors.ask(gate, told(score, **more))


def label(gate: Gate, answer: Answer, *, correct: bool, **more: Any) -> None:
    """Let a person say whether an output was correct."""
    action = "approve" if correct else "reject"
    gate.run(gate.record_outcome(answer["id"], action=action, by="Ada", **more))
