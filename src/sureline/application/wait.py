"""Wait for a person's verdict (R11)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import StoredDecision
from sureline.application.review.desk import ReviewDesk
from sureline.application.review.reviewed import Reviewed
from sureline.application.review.seen import Seen
from sureline.core.review.elsewhere import last_word
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, ReviewKind
from sureline.errors import NotFound

POLL_SECONDS = 0.25
"""How often the store is asked for an answer."""

_SETTLING = frozenset({Action.APPROVE, Action.REJECT, Action.EDIT, Action.EXPIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """Lets an agent wait for the answer to its proposal (R11); no agent has a planted one."""

    seen: Seen
    desk: ReviewDesk
    clock: Clock

    async def wait(self, workspace: str, decision_id: str, seconds: float) -> Reviewed:
        """Return the newest answer, or how things stand after `seconds`. Raises NotFound.

        A verdict that can still be taken back is not handed out yet. One that nobody gave in time
        is answered as `expired`, which is no rejection by a person. Where another attempt took
        its place, no answer is waited for.
        """
        stored = await self.seen.decision(workspace, decision_id)
        if stored is None:
            raise NotFound(f"there is no decision {decision_id!r}")
        deadline = self.clock.monotonic() + seconds
        while True:
            found = await self._reviewed(stored)
            left = deadline - self.clock.monotonic()
            if found.is_over or left <= 0:
                return found
            await asyncio.sleep(min(POLL_SECONDS, left))

    async def _reviewed(self, stored: StoredDecision) -> Reviewed:
        await self.desk.settle(stored.id)
        found_item = await self.desk.store.get(stored.workspace, stored.id)
        asked = found_item is not None and found_item.kind is ReviewKind.REVIEW
        item = found_item if asked else None
        outcomes = await self.seen.outcomes(stored.workspace, stored.id)
        outcome = None if _is_awaited(item) else _answer(outcomes, item)
        found = Reviewed(
            decision_id=stored.id, state=None if item is None else item.state, outcome=outcome
        )
        if not found.approved or outcome is None:
            return found
        return Reviewed(
            decision_id=found.decision_id,
            state=found.state,
            outcome=outcome,
            output=_released(stored, outcome),
        )


def _is_awaited(item: Review | None) -> bool:
    """Tell whether people have not said their last word: what one of several said is none."""
    return item is not None and (item.state.is_open or not item.released)


def _answer(outcomes: Sequence[Outcome], item: Review | None) -> Outcome | None:
    """Return the answer that the agent is told.

    An audit's is none: who is told of it learns which of its outputs were drawn. Where people were
    asked, no yes counts but the one that their item of the queue ended with.
    """
    settling = [
        one for one in outcomes if one.action in _SETTLING and one.source is not OutcomeSource.AUDIT
    ]
    if item is not None:
        return last_word(settling, item)
    return settling[-1] if settling else None


def _released(stored: StoredDecision, outcome: Outcome) -> Any:
    if outcome.edited is not None:
        return json.loads(outcome.edited)
    return None if stored.answer is None else json.loads(stored.answer)["output"]
