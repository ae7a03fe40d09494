"""Use an automatic approval: once, soon, and only while no switch is on (G29)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta

from sureline.application.answer import Answer
from sureline.application.current import Currents
from sureline.application.encode import splice
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, StoredDecision
from sureline.application.ports.switches import HardSwitch
from sureline.core.values.decision import Route
from sureline.core.values.outcome import Action
from sureline.errors import NotFound, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Hands out the one use of an approval, re-reading the switches first."""

    ledger: Ledger
    currents: Currents
    hard_switch: HardSwitch
    clock: Clock

    async def consume(self, workspace: str, decision_id: str) -> Answer:
        """Mark the approval as used and return the decision.

        Raises NotFound, and Refused when it was not approved, was used before, is too old, or a
        switch has been turned on since.
        """
        stored = await self.ledger.decision(workspace, decision_id)
        if stored is None:
            raise NotFound(f"there is no decision {decision_id!r}")
        if stored.answer is None:
            raise Refused("the payload of this decision was erased")
        if stored.route == Route.AUTO_APPROVE:
            await self._check_automatic(stored)
        else:
            await self._check_reviewed(stored)
        if not await self.ledger.consume(workspace, decision_id, self.clock.now()):
            raise Refused("this approval was used before; an approval is used once")
        return Answer(splice(stored.body, stored.answer), created=False)

    async def _check_automatic(self, stored: StoredDecision) -> None:
        current = await self.currents.latest(stored.slice_key)
        age = self.clock.now() - stored.created_at
        if age > timedelta(seconds=current.policy.approval_ttl_seconds):
            raise Refused("this approval is too old to be used; decide again")
        certified_by = json.loads(stored.body)["certificate"]
        holding = None if current.certificate is None else current.certificate.id
        if certified_by is not None and certified_by != holding:
            raise Refused("the certificate behind this approval no longer holds; decide again")
        batch_id = json.loads(stored.request or b"{}").get("batch_id")
        switches = [
            *self.hard_switch.read(stored.workspace),
            *await self.ledger.switches_on(stored.workspace, stored.slice_key, batch_id),
        ]
        if switches:
            raise Refused(f"the switch {switches[0].scope} is on: {switches[0].reason}")

    async def _check_reviewed(self, stored: StoredDecision) -> None:
        outcomes = await self.ledger.outcomes(stored.workspace, stored.id)
        last = outcomes[-1].action if outcomes else None
        if last is not Action.APPROVE:
            raise Refused(
                "no person has approved this output"
                if last is None
                else f"the person's answer was {last}"
            )
