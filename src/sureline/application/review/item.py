"""What a reviewer is shown: all there is, or for an audit nothing of the gate's view."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sureline.application.ports.ledger import StoredDecision
from sureline.core.review.opening import content_digest
from sureline.core.values.review import Review, ReviewKind
from sureline.errors import NotFound, StoreCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """An item with its content.

    `output` is the newest version, as it would be released. `decision` is the recorded decision
    (reasons, signals, findings), empty for an audit: its auditor is to judge for themselves.
    `is_withheld` says that its reviewer has to answer first: then there is no output here.
    `batch_id` is the batch in which it came, whose switch holds for it.
    `is_rescored` says that the output was edited: `decision` has what the checks say of it now.
    """

    review: Review
    task: str
    source: tuple[Mapping[str, Any], ...]
    output: Any
    proposed: Any
    decision: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Any] = field(default_factory=dict)
    is_withheld: bool = False
    batch_id: str | None = None
    is_rescored: bool = False

    @property
    def is_blind(self) -> bool:
        """Tell whether the gate's view is kept from the reviewer."""
        return self.review.kind is ReviewKind.AUDIT

    @property
    def is_edited(self) -> bool:
        """Tell whether the output to decide on is one that somebody edited."""
        draft = self.review.draft
        return draft is not None and draft.edited is not None

    @property
    def reasons(self) -> Sequence[Mapping[str, Any]]:
        """Return why it is here: code and sentence."""
        return tuple(self.decision.get("reasons", ()))


CLAIMED = ("reasoning", "self_report", "alternatives", "evidence", "generator", "metadata")
"""What the agent says of its own output; shown as claims, never as findings."""


def read_item(review: Review, stored: StoredDecision | None) -> ReviewItem:
    """Put an item together. Raises NotFound if its payload was erased."""
    if stored is None or stored.request is None or stored.answer is None:
        raise NotFound(f"the payload of decision {review.decision_id!r} was erased")
    request, answer = json.loads(stored.request), json.loads(stored.answer)
    proposed = answer["output"]
    blind = review.kind is ReviewKind.AUDIT
    return ReviewItem(
        review=review,
        task=request["task"],
        source=tuple(request.get("source", ())),
        output=_current(review, proposed),
        proposed=proposed,
        decision={} if blind else _seen(json.loads(stored.body), answer),
        claims={} if blind else {name: request[name] for name in CLAIMED if name in request},
        batch_id=request.get("batch_id"),
    )


def _seen(body: dict[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision with what the checks found and what other signals say of the output."""
    said = answer.get("findings", {})
    return {**body, "feedback": answer["feedback"], **({"findings": said} if said else {})}


def _current(review: Review, proposed: Any) -> Any:
    """Return the content to decide on: what the last edit made of it, or the proposal.

    Raises StoreCorrupt where its digest is not the one to decide on: nothing is shown, and so
    nothing approved, but the very content that would be released.
    """
    draft = review.draft
    output = proposed if draft is None or draft.edited is None else draft.edited
    if content_digest(output) != review.digest:
        raise StoreCorrupt(
            f"the content of review {review.id!r} is not what its digest says; nothing can be "
            "decided about it"
        )
    return output
