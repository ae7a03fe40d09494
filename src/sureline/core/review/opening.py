"""Put a routed output into the queue (R1, R4)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta

from sureline.core.canonical import canonical_json
from sureline.core.review.hours import deadline_at
from sureline.core.values.decision import Decision, Route
from sureline.core.values.proposal import Stakes
from sureline.core.values.review import Review, ReviewKind, ReviewRules

AUDIT_RANK = -1 - len(Stakes)
"""Audits come after everything that somebody waits for, and after what is called back."""


def opened_review(
    decision: Decision, rules: ReviewRules, *, submitted_by: str | None, now: datetime
) -> Review | None:
    """Return the item that a decision opens, or None if no person is to see it.

    An audit waits as long as it must: it has no deadline before a year is over.
    """
    if decision.review_id is not None:
        kind, rank = ReviewKind.REVIEW, Stakes(decision.stakes).rank
        deadline = deadline_at(rules, 0, now)
    elif decision.audit and decision.route is Route.AUTO_APPROVE:
        kind, rank, deadline = ReviewKind.AUDIT, AUDIT_RANK, now + timedelta(days=365)
        rules = replace(rules, approvals=1)  # it has acted: nothing is approved by its audit
    else:
        return None
    return Review(
        workspace=decision.workspace,
        id=decision.id,
        decision_id=decision.id,
        slice_key=decision.slice_key,
        kind=kind,
        rank=rank,
        uncertainty=uncertainty_of(decision.confidence),
        digest=content_digest(decision.output),
        opened_at=now,
        deadline=deadline,
        rules=rules,
        submitted_by=submitted_by,
    )


def uncertainty_of(confidence: float | None) -> float:
    """Return how unsure a score leaves us: 1 at one half or without a score, 0 at 0 and 1."""
    return 1.0 if confidence is None else 1.0 - abs(2.0 * confidence - 1.0)


def content_digest(output: object) -> str:
    """Return the digest of what is shown and released: the validated output as canonical JSON.

    3 and "3" are two contents, and so is an omitted field beside one that states the default; all
    of the output is bound, with no exception.
    """
    return hashlib.sha256(canonical_json(output)).hexdigest()
