"""The judge: an independent model that is told to refute an output (G9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sureline.application.ports.models import ModelClient
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.verdict import Verdict
from sureline.errors import ModelFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudge:
    """Asks the model that a slice's policy names; `new_nonce` makes fences nobody can forge."""

    client: ModelClient
    new_nonce: Callable[[], str]

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        """Return the verdict. Raises ModelFailed with the reason."""
        raise ModelFailed("not_configured")
