"""What a verdict does, in a sentence: nobody should have to guess what a button sets off (R1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sureline.core.values.review import Review, ReviewKind
from sureline.web.pages.templates import span

CONSEQUENCES = {
    "reversible": "What is done with it can be undone.",
    "high_cost": "What is done with it is costly to undo.",
    "irreversible": "What is done with it cannot be undone.",
}
"""By stakes."""


def effect_of(review: Review, decision: Mapping[str, Any]) -> str:
    """Return what approving and rejecting an item do."""
    if review.kind is ReviewKind.AUDIT:
        return "It has acted already: your answer is a label, and nothing is released by it."
    if review.kind.has_acted:
        return "It has acted already: your answer says whether it was right, and releases nothing."
    action = decision.get("action_class")
    use = f"do {action} with it" if action else "act on it"
    window = f"Undo: {span(review.rules.undo)}."
    left = review.rules.approvals - len(review.approvals)
    if left > 1:
        others = f"{left - 1} more must" if left > 2 else "one more must"
        approving = f"Approving is not enough for the agent to {use}: {others} approve."
    else:
        approving = f"Approving hands it to the agent, which may {use}."
    return f"{approving} Rejecting stops it. {window}"
