"""Measure how probable the generator found its own tokens (G12)."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.opinions.token_probability import NAME, token_probability
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenProbability:
    """Reads a proposal's log-probabilities; recorded wherever they are given, weight or not."""

    name: str = NAME
    kind: SignalKind = SignalKind.SELF_REPORT

    def wanted(self, proposal: Proposal, policy: SlicePolicy) -> bool:  # noqa: ARG002 - the port's
        """Tell whether the proposal brings log-probabilities."""
        return bool(proposal.logprobs)

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:  # noqa: ARG002
        """Return the signal; `not_applicable(claimed)` where nobody trusted vouches for them.

        An agent could send what it likes, and no number of its own may raise a score (G34).
        """
        if not proposal.trusted:
            return Signal.not_applicable(self.name, self.kind, "claimed")
        return token_probability(proposal.logprobs)
