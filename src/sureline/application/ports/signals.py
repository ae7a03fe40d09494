"""What measures an output: plug-ins implement `SignalSource` (G35)."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict


@runtime_checkable
class SignalSource(Protocol):
    """Measures one thing about an output.

    An exception becomes the state `failed`; a source need not catch its own.
    """

    name: str
    kind: SignalKind

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the signal `name` for `proposal`."""


class Judge(Protocol):
    """Tries to refute an output."""

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        """Return the verdict; an exception becomes a failed judge."""
