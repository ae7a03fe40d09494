"""Wait for a person's verdict (R11)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.review.desk import ReviewDesk
from sureline.core.values.outcome import Action, Outcome
from sureline.errors import NotFound

POLL_SECONDS = 0.25
"""How often the store is asked for an answer."""

_SETTLING = frozenset({Action.APPROVE, Action.REJECT, Action.EDIT, Action.EXPIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """Lets an agent wait for the answer to its proposal (R11)."""

    ledger: Ledger
    desk: ReviewDesk
    clock: Clock

    async def wait(self, workspace: str, decision_id: str, seconds: float) -> Outcome | None:
        """Return the newest settling answer, or None after `seconds`. Raises NotFound.

        A verdict that can still be taken back is not handed out yet. One that nobody gave in time
        is answered as `expired`, which is no rejection by a person.
        """
        if await self.ledger.decision(workspace, decision_id) is None:
            raise NotFound(f"there is no decision {decision_id!r}")
        deadline = self.clock.monotonic() + seconds
        while True:
            await self.desk.settle(decision_id)
            outcomes = await self.ledger.outcomes(workspace, decision_id)
            settled = [outcome for outcome in outcomes if outcome.action in _SETTLING]
            if settled:
                return settled[-1]
            left = deadline - self.clock.monotonic()
            if left <= 0:
                return None
            await asyncio.sleep(min(POLL_SECONDS, left))
