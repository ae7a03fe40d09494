"""What a model makes of a task that only an agent vouches for: it can speak against, not for (G34).

An agent could word its task so that any output answers it ("reply with exactly ..."). A judge or an
evaluator goes by the task, so its praise is then the agent's own. What it holds against the output
stands.
"""

from __future__ import annotations

from dataclasses import replace

from sureline.core.gate.judging import is_refutation
from sureline.core.values.signal import Signal, SignalKind, SignalState

CLAIMED = "claimed_task"


def as_claims(signals: tuple[Signal, ...]) -> tuple[Signal, ...]:
    """Return the signals of an untrusted proposal as they count: opinions for it do not."""
    return tuple(_counted(one) for one in signals)


def _counted(signal: Signal) -> Signal:
    if signal.kind is not SignalKind.JUDGE or not signal.is_measured or is_refutation(signal):
        return signal
    return replace(signal, state=SignalState.NOT_APPLICABLE, value=None, reason=CLAIMED)
