"""Whether a delivery was carried out whose answer was never written down."""

from __future__ import annotations

from datetime import datetime

from sureline.application.ports.ledger import Ledger
from sureline.core.values.inbound import InboundVerdict
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review


async def is_done(
    ledger: Ledger, item: Review, said: InboundVerdict, *, by: str, since: datetime
) -> bool:
    """Tell whether somebody's act is on record since a delivery first came.

    A process that died between the act and its answer has left it there; done again, an item
    would go two steps up.
    """
    if said.action in {Action.SKIP, Action.ESCALATE}:
        outcomes = await ledger.outcomes(item.workspace, item.decision_id)
        return any(
            (one.action, one.by) == (said.action, by) and one.recorded_at >= since
            for one in outcomes
        )
    return any(
        (one.action, one.by, one.digest) == (said.action, by, said.digest) and one.at >= since
        for one in item.given
    )
