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

    @property
    def name(self) -> str:
        """The signal's name."""

    @property
    def kind(self) -> SignalKind:
        """What its value rests on."""

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the signal `name` for `proposal`."""


@runtime_checkable
class Opinion(SignalSource, Protocol):
    """A source that measures only some proposals."""

    def wanted(self, proposal: Proposal, policy: SlicePolicy) -> bool:
        """Tell whether there is anything to measure for `proposal` under `policy`."""


class Judge(Protocol):
    """Tries to refute an output."""

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        """Return the verdict; the proposal's deadline is the time that is left for it.

        An exception becomes a failed judge; ModelFailed says why.
        """
