"""Draw the sure line: what agents may decide, and what people must see.

    gate = sureline.Gate.open("policy.yaml", store="sqlite:///sureline.db")
    decision = await gate.decide(task=..., output=..., slice_key=..., source=...)

Names are resolved at first use (PEP 562), so that the import itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sureline.bootstrap import Plugins as Plugins
    from sureline.bootstrap import tracer_on as tracer_on
    from sureline.core.values.decision import Decision as Decision
    from sureline.core.values.decision import Reason as Reason
    from sureline.core.values.decision import Route as Route
    from sureline.core.values.finding import Finding as Finding
    from sureline.core.values.mission import Mission as Mission
    from sureline.core.values.mission import MissionState as MissionState
    from sureline.core.values.mission_evidence import Evidence as Evidence
    from sureline.core.values.mission_evidence import ToolCall as ToolCall
    from sureline.core.values.mission_evidence import Turn as Turn
    from sureline.core.values.outcome import Action as Action
    from sureline.core.values.outcome import Outcome as Outcome
    from sureline.core.values.outcome import OutcomeSource as OutcomeSource
    from sureline.core.values.policy import Mode as Mode
    from sureline.core.values.policy import Policy as Policy
    from sureline.core.values.policy import SlicePolicy as SlicePolicy
    from sureline.core.values.proposal import Proposal as Proposal
    from sureline.core.values.proposal import Stakes as Stakes
    from sureline.core.values.signal import Signal as Signal
    from sureline.core.values.signal import SignalKind as SignalKind
    from sureline.core.values.signal import SignalState as SignalState
    from sureline.core.values.verdict import Verdict as Verdict
    from sureline.errors import Conflict as Conflict
    from sureline.errors import InvalidInput as InvalidInput
    from sureline.errors import MissionRefused as MissionRefused
    from sureline.errors import NotFound as NotFound
    from sureline.errors import PolicyError as PolicyError
    from sureline.errors import Refused as Refused
    from sureline.errors import StoreError as StoreError
    from sureline.errors import SurelineError as SurelineError
    from sureline.errors import UnknownSlice as UnknownSlice
    from sureline.gate import Gate as Gate
    from sureline.mission_tracker import MissionTracker as MissionTracker

_HOMES = {
    "Turn": "sureline.core.values.mission_evidence",
    "ToolCall": "sureline.core.values.mission_evidence",
    "MissionTracker": "sureline.mission_tracker",
    "MissionState": "sureline.core.values.mission",
    "MissionRefused": "sureline.errors",
    "Mission": "sureline.core.values.mission",
    "Evidence": "sureline.core.values.mission_evidence",
    "Action": "sureline.core.values.outcome",
    "Conflict": "sureline.errors",
    "Decision": "sureline.core.values.decision",
    "Finding": "sureline.core.values.finding",
    "Gate": "sureline.gate",
    "InvalidInput": "sureline.errors",
    "Mode": "sureline.core.values.policy",
    "NotFound": "sureline.errors",
    "Outcome": "sureline.core.values.outcome",
    "OutcomeSource": "sureline.core.values.outcome",
    "Plugins": "sureline.bootstrap",
    "tracer_on": "sureline.bootstrap",
    "Policy": "sureline.core.values.policy",
    "PolicyError": "sureline.errors",
    "Proposal": "sureline.core.values.proposal",
    "Reason": "sureline.core.values.decision",
    "Refused": "sureline.errors",
    "Route": "sureline.core.values.decision",
    "Signal": "sureline.core.values.signal",
    "SignalKind": "sureline.core.values.signal",
    "SignalState": "sureline.core.values.signal",
    "SlicePolicy": "sureline.core.values.policy",
    "Stakes": "sureline.core.values.proposal",
    "StoreError": "sureline.errors",
    "SurelineError": "sureline.errors",
    "UnknownSlice": "sureline.errors",
    "Verdict": "sureline.core.values.verdict",
}

__all__ = [
    "Action",
    "Conflict",
    "Decision",
    "Evidence",
    "Finding",
    "Gate",
    "InvalidInput",
    "Mission",
    "MissionRefused",
    "MissionState",
    "MissionTracker",
    "Mode",
    "NotFound",
    "Outcome",
    "OutcomeSource",
    "Plugins",
    "Policy",
    "PolicyError",
    "Proposal",
    "Reason",
    "Refused",
    "Route",
    "Signal",
    "SignalKind",
    "SignalState",
    "SlicePolicy",
    "Stakes",
    "StoreError",
    "SurelineError",
    "ToolCall",
    "Turn",
    "UnknownSlice",
    "Verdict",
    "tracer_on",
]


def __getattr__(name: str) -> Any:
    """Import the public name `name` at its first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sureline' has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
