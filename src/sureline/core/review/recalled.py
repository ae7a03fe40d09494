"""Put into the queue what is called back (R14)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sureline.core.review.opening import AUDIT_RANK, uncertainty_of
from sureline.core.values.proposal import Stakes
from sureline.core.values.recall import Covered
from sureline.core.values.review import Review, ReviewKind, ReviewRules

WAITS = timedelta(days=365)
"""A recall may bring a hundred thousand items, and nobody waits for them: none expires before."""


def recalled_review(
    one: Covered,
    *,
    workspace: str,
    review_id: str,
    digest: str,
    rules: ReviewRules,
    now: datetime,
) -> Review:
    """Return the item of a decision that is called back.

    It comes after everything that somebody waits for and before audits, the highest stakes first.
    Nothing is released by its verdict, so one person is enough.
    """
    return Review(
        workspace=workspace,
        id=review_id,
        decision_id=one.decision_id,
        slice_key=one.slice_key,
        kind=ReviewKind.RECALL,
        rank=AUDIT_RANK + 1 + Stakes(one.stakes).rank,
        uncertainty=uncertainty_of(one.confidence),
        digest=digest,
        opened_at=now,
        deadline=now + WAITS,
        rules=replace(rules, approvals=1, answer_first=False, not_by=()),
        submitted_by=one.submitted_by,
    )


def stakes_of(item: Review) -> Stakes | None:
    """Return the stakes that an item's place in the queue tells; None for an audit."""
    if item.kind is ReviewKind.AUDIT:
        return None
    rank = item.rank - AUDIT_RANK - 1 if item.kind is ReviewKind.RECALL else item.rank
    return next((one for one in Stakes if one.rank == rank), None)
