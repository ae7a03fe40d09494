"""What spans say of decisions and signals: identifiers, codes and figures alone."""

from __future__ import annotations

import re

from sureline.application.ports.tracing import Figure, Span
from sureline.core.values.decision import Decision
from sureline.core.values.signal import Signal, SignalState

OTHER = "other"
"""What stands for a reason that is no code: whoever wrote a plug-in may have quoted."""

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


def as_code(reason: str) -> str:
    """Return a reason if it reads like a code."""
    return reason if _CODE.fullmatch(reason) else OTHER


def note_replay(span: Span, decision_id: str) -> None:
    """Say that the decision was there already."""
    if span.recorded:
        span.note({"sureline.decision.id": decision_id, "sureline.replay": True})


def note_decision(span: Span, decision: Decision, *, replay: bool) -> None:
    """Say what was decided; whether it is audited is nobody's to read in a trace."""
    if not span.recorded:
        return
    figures: dict[str, Figure] = {
        "sureline.decision.id": decision.id,
        "sureline.workspace": decision.workspace,
        "sureline.slice": decision.slice_key,
        "sureline.mode": decision.mode.value,
        "sureline.route": decision.route.value,
        "sureline.reasons": [as_code(one.code) for one in decision.reasons],
        "sureline.attempt": decision.attempt,
        "sureline.policy": decision.policy,
        "sureline.replay": replay,
    }
    for name, value in (("confidence", decision.confidence), ("threshold", decision.threshold)):
        if value is not None:
            figures[f"sureline.{name}"] = value
    span.note(figures)


def note_signal(span: Span, signal: Signal) -> None:
    """Say how a measurement ended; one that failed is a failed span."""
    if not span.recorded:
        return
    figures: dict[str, Figure] = {
        "sureline.signal.name": signal.name,
        "sureline.signal.kind": signal.kind.value,
        "sureline.signal.state": signal.state.value,
    }
    if signal.value is not None:
        figures["sureline.signal.value"] = signal.value
    if signal.reason is not None:
        figures["sureline.signal.reason"] = as_code(signal.reason)
    span.note(figures)
    if signal.state is SignalState.FAILED:
        span.fault(as_code(signal.reason or OTHER))
