"""Audit what was automated: people answer a random sample without seeing the gate's view (G23)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.label import GivenAnswer, Labeller
from sureline.application.own_proposal import check_not_own
from sureline.application.ports.audits import DueAudit
from sureline.application.ports.ledger import Ledger, StoredDecision
from sureline.application.review.seen import Seen
from sureline.core.gate.sampling import Purpose, draw
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.errors import InvalidInput, NotFound

MOST = 1_000
"""Audits that are listed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem:
    """What an auditor sees: the task, its sources and the output, nothing of the gate's view.

    `source` pairs each reference with its text. What the generator said of itself is left out
    too: an auditor who has read it is no second opinion.
    """

    decision_id: str
    slice_key: str
    decided_at: datetime
    task: str
    source: tuple[tuple[str, str], ...]
    output: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditor:
    """Lists, shows and answers audits of one workspace; `secret` fixes their order."""

    ledger: Ledger
    seen: Seen
    labeller: Labeller
    secret: bytes
    workspace: str

    async def due(self, slice_key: str | None = None, *, limit: int = MOST) -> Sequence[DueAudit]:
        """Return the audits that wait longest, in an order that looks random and never changes.

        Neighbours in time resemble each other; mixed up, no answer suggests the next.
        """
        found = await self.ledger.due_audits(self.workspace, slice_key, limit)
        return sorted(found, key=lambda one: draw(self.secret, Purpose.AUDIT, one.decision_id))

    async def show(self, decision_id: str) -> AuditItem:
        """Return what the auditor is to look at. Raises NotFound, and InvalidInput if undrawn."""
        stored = await self._drawn(decision_id)
        if stored.request is None or stored.answer is None:
            raise NotFound(f"the payload of decision {decision_id!r} was erased")
        request = json.loads(stored.request)
        return AuditItem(
            decision_id=stored.id,
            slice_key=stored.slice_key,
            decided_at=stored.created_at,
            task=request["task"],
            source=tuple((one["ref"], one["text"]) for one in request.get("source", ())),
            output=json.loads(stored.answer)["output"],
        )

    async def answer(
        self,
        decision_id: str,
        *,
        correct: bool,
        by: str,
        anchored: bool = True,
        comment: str | None = None,
    ) -> Outcome:
        """Record an auditor's label; `anchored` says that the output was seen before judging.

        Raises NotFound, and InvalidInput for a decision that was not drawn: picking what to audit
        would make the sample worthless. Raises Forbidden for whoever calls their own output right.
        """
        stored = await self._drawn(decision_id)
        action = Action.APPROVE if correct else Action.REJECT
        check_not_own(stored, by, action)
        return await self.labeller.record(
            self.workspace,
            GivenAnswer(
                decision_id=decision_id,
                action=action,
                by=by,
                source=OutcomeSource.AUDIT,
                anchored=anchored,
                comment=comment,
            ),
        )

    async def _drawn(self, decision_id: str) -> StoredDecision:
        stored = await self.seen.decision(self.workspace, decision_id)
        if stored is None:
            raise NotFound(f"there is no decision {decision_id!r}")
        if not is_drawn(stored):
            raise InvalidInput(
                f"decision {decision_id!r} was not drawn for the audit; to record what became of "
                "it, use `sureline outcome`"
            )
        return stored


def is_drawn(stored: StoredDecision) -> bool:
    """Tell whether the decision was automated and drawn for the audit."""
    return json.loads(stored.body)["audit"] is True
