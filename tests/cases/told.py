"""A slice whose composite is whatever a proposal says, and people who label its outputs."""

from __future__ import annotations

import json
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
    """A source that reads its value from the proposal's metadata, whatever is written there.

    Text such as "NaN" is read as a number: a proposal is JSON and has no such numbers.
    """

    name: str = "told"
    kind: SignalKind = SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        value = (proposal.metadata or {})["told"]
        number = float(value) if isinstance(value, str) else value
        return Signal.measured(self.name, self.kind, number)


def told_policy(auto: float = 0.8, **more: Any) -> str:
    """Return a policy that composes only what is told, and approves from `auto` on."""
    settings = {
        "mode": "route",
        "weights": {"told": 1.0},
        "output": {"json_schema": {"type": "object"}},
        "attempts": 1,
        "abstain_floor": 0.0,
        "hypothesis": {
            "auto": auto,
            "reject": 0.0,
            "allow_uncertified": True,
            "starts": str(MOMENT.date()),
        },
        **more,
    }
    return json.dumps({"version": 1, "slices": {"told": settings}})  # JSON is YAML


def told(score: Any, **more: Any) -> dict[str, Any]:
    """Return a proposal whose composite is `score`."""
    return {
        "slice_key": "told",
        "task": "Say it",
        "output": {"said": True},
        "metadata": {"told": score},
        **more,
    }


def ask(gate: Gate, score: Any, **more: Any) -> Answer:
    return doors.ask(gate, told(score, **more))


def label(gate: Gate, answer: Answer, *, correct: bool, **more: Any) -> None:
    """Let a person say whether an output was correct."""
    action = "approve" if correct else "reject"
    gate.run(gate.record_outcome(answer["id"], action=action, by="Ada", **more))
