"""The self-evaluation: a smaller model names the failure modes that apply (G1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sureline.application.ports.models import ModelClient
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import ModelFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfEvaluator:
    """Asks the model that a slice's policy names; `new_nonce` makes fences nobody can forge."""

    client: ModelClient
    new_nonce: Callable[[], str]
    name: str = "self_evaluation"
    kind: SignalKind = SignalKind.JUDGE

    def wanted(self, proposal: Proposal, policy: SlicePolicy) -> bool:
        """Tell whether the slice has a self-evaluation."""
        return policy.self_evaluation is not None

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the signal. Raises ModelFailed with the reason."""
        raise ModelFailed("not_configured")
