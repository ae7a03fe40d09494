"""What became of an output that went to people, for the agent that waits (R11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sureline.core.values.outcome import Action, Outcome
from sureline.core.values.review import ReviewState

APPROVING = frozenset({Action.APPROVE, Action.EDIT})
"""Answers after which an output can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The answer to one decision, or that there is none yet.

    `state` is that of the item in the queue; None where nothing was queued. `output` is what is
    released: as proposed, or as it was edited; None unless it was approved. It is not used by
    reading it here: `consume` hands it out, once.
    """

    decision_id: str
    state: ReviewState | None
    outcome: Outcome | None = None
    output: Any = None

    @property
    def approved(self) -> bool:
        """Tell whether a person released it, as it was or edited."""
        outcome = self.outcome
        if outcome is None or outcome.action not in APPROVING:
            return False
        return outcome.action is Action.APPROVE or outcome.edited is not None

    @property
    def is_over(self) -> bool:
        """Tell whether there is an answer, or none will come any more."""
        return self.outcome is not None or self.state is ReviewState.SUPERSEDED
