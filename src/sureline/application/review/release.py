"""Turn what happened to an item into outcomes: the labels that learning reads (R6)."""

from __future__ import annotations

from datetime import datetime

from sureline.application.ports.reviews import Changed
from sureline.core.canonical import canonical_json
from sureline.core.review import transitions
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewState, Verdict

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
    stamp = int(now.timestamp() * 1_000_000)
    return Outcome(
        id=f"{item.id}:{action}:{stamp}",
        workspace=item.workspace,
        decision_id=item.decision_id,
        action=action,
        correct=None,
        source=_source(item),
        by=by,
        anchored=True,
        recorded_at=now,
        comment=comment,
    )


def _released(item: Review, now: datetime) -> tuple[Outcome, ...]:
    if item.state is ReviewState.EXPIRED:
        return (acted(item, Action.EXPIRED, NOBODY, now),)
    verdict = item.verdict
    if item.state is not ReviewState.DECIDED or verdict is None:
        return ()
    others = [one for one in item.approvals if one != verdict.by]
    earlier = [_approval(item, verdict, one) for one in others] if verdict.correct else []
    return (*earlier, _decided(item, verdict))


def _approval(item: Review, verdict: Verdict, by: str) -> Outcome:
    """Return the approval of one of several who had to approve; the last one's comes after it."""
    return Outcome(
        id=f"{item.id}:v{item.version}:{by}",
        workspace=item.workspace,
        decision_id=item.decision_id,
        action=Action.APPROVE,
        correct=True,
        source=_source(item),
        by=by,
        anchored=verdict.anchored,
        recorded_at=verdict.at,
        content=item.digest,
    )


def _decided(item: Review, verdict: Verdict) -> Outcome:
    edited = verdict.action is Action.EDIT
    return Outcome(
        id=f"{item.id}:v{item.version}",
        workspace=item.workspace,
        decision_id=item.decision_id,
        action=verdict.action,
        correct=verdict.correct,
        source=_source(item),
        by=verdict.by,
        anchored=verdict.anchored,
        recorded_at=verdict.at,
        comment=_comment(verdict),
        edited_fields=verdict.edited_fields,
        content=item.digest,
        edited=canonical_json(verdict.edited) if edited else None,
    )


def _comment(verdict: Verdict) -> str | None:
    """Return the chip and the words of a reviewer as one text."""
    said = [one for one in (verdict.reason, verdict.comment) if one]
    return ": ".join(said) or None


def _source(item: Review) -> OutcomeSource:
    return OutcomeSource.AUDIT if item.kind is ReviewKind.AUDIT else OutcomeSource.REVIEW
