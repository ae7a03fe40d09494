"""What people find under an id: a recorded decision, or a planted item as if it were one (R7).

Whoever reviews must not be able to tell the two apart, whichever way they ask. Nothing that acts
or counts reads this: calibration, agents and reports read the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sureline.application.ports.audits import Erasure
from sureline.application.ports.ledger import Ledger, StoredDecision
from sureline.application.ports.planted import PlantedStore
from sureline.core.values.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Reads decisions and what became of them, planted items among them."""

    ledger: Ledger
    planted: PlantedStore

    async def decision(self, workspace: str, decision_id: str) -> StoredDecision | None:
        """Return what is shown under an id, or None."""
        stored = await self.ledger.decision(workspace, decision_id)
        if stored is not None:
            return stored
        return await self.planted.content(workspace, decision_id)

    async def outcomes(self, workspace: str, decision_id: str) -> Sequence[Outcome]:
        """Return what was said of it, oldest first."""
        said = await self.ledger.outcomes(workspace, decision_id)
        return said or await self.planted.outcomes(workspace, decision_id)

    async def erasure(self, workspace: str, decision_id: str) -> Erasure | None:
        """Return how its payload was erased, None if it was not."""
        planted = await self.planted.get(workspace, decision_id)
        erased_with = decision_id if planted is None else planted.source_id
        for one in await self.ledger.erasures(workspace):
            if one.decision_id == erased_with:
                return replace(one, decision_id=decision_id)
        return None
