"""Turn what happened to an item into outcomes: the labels that learning reads (R6)."""

from __future__ import annotations

import hashlib
from datetime import datetime

from sureline.application.ports.reviews import Changed
from sureline.core.canonical import canonical_json
from sureline.core.review import transitions
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action, Outcome
from sureline.core.values.review import Review, ReviewState, Verdict

NOBODY = "deadline"
"""Who is said to have acted where it was only time."""


def settled(item: Review, now: datetime) -> Changed:
    """Return the item as time alone has made it, with the outcomes of what is released by that."""
    after = transitions.settle(item, now)
    if after.released and not item.released:
        return Changed(item=after, outcomes=_released(after, now))
    return Changed(item=after)


def acted(
    item: Review, action: Action, by: str, now: datetime, comment: str | None = None
) -> Outcome:
    """Return the outcome of an act that decides nothing: skipping, escalating, expiry."""
    return Outcome(
        id=_id(item, "act", action, by, now),
        workspace=item.workspace,
        decision_id=item.decision_id,
        action=action,
        correct=None,
        source=transitions.source_of(item.kind),
        by=by,
        anchored=True,
        recorded_at=now,
        comment=comment,
    )


def said_so_far(item: Review) -> tuple[Outcome, ...]:
    """Return what was said of an item and is not in the ledger yet, oldest first."""
    return tuple(_outcome(item, place) for place in range(len(item.given)))


def _released(item: Review, now: datetime) -> tuple[Outcome, ...]:
    """Return all that was said, in this order; the verdict that stands comes last.

    Where others have approved an edit, the edit is what stands: it holds what is released.
    """
    if item.verdict is not None and item.verdict.recorded:
        return ()
    said = [_outcome(item, place) for place in range(len(item.given))]
    if item.state is ReviewState.EXPIRED:
        return (*said, acted(item, Action.EXPIRED, NOBODY, now))
    draft, last = item.draft, item.verdict
    if draft is not None and last is not None and last.action is Action.APPROVE:
        said.append(said.pop(item.given.index(draft)))
    return tuple(said)


def _outcome(item: Review, place: int) -> Outcome:
    verdict, before = item.given[place], item.given[:place]
    edited = verdict.action is Action.EDIT
    # Who approves what somebody edited says nothing about the output as it was proposed.
    of_edit = verdict.action is Action.APPROVE and any(one.action is Action.EDIT for one in before)
    return Outcome(
        id=_id(item, place, verdict.action, verdict.by, verdict.at),
        workspace=item.workspace,
        decision_id=item.decision_id,
        action=verdict.action,
        correct=None if of_edit else verdict.correct,
        source=transitions.source_of(item.kind),
        by=verdict.by,
        anchored=verdict.anchored,
        recorded_at=verdict.at,
        comment=_comment(verdict),
        edited_fields=verdict.edited_fields,
        content=content_digest(verdict.edited) if edited else verdict.digest,
        edited=canonical_json(verdict.edited) if edited else None,
    )


def _id(item: Review, *of: object) -> str:
    """Return an id that is the same at every try, and that no decision's id can be made to meet."""
    named = canonical_json([item.id, *(str(one) for one in of)])
    return f"review-{hashlib.sha256(named).hexdigest()[:32]}"


def _comment(verdict: Verdict) -> str | None:
    """Return the chip and the words of a reviewer as one text."""
    said = [one for one in (verdict.reason, verdict.comment) if one]
    return ": ".join(said) or None
