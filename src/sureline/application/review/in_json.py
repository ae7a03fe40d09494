"""Items of the queue as JSON values: for programs, over HTTP and on the command line."""

from __future__ import annotations

from typing import Any

from sureline.application.review.bulk import RowDone
from sureline.application.review.item import ReviewItem
from sureline.core.values.review import Review


def review_json(item: Review) -> dict[str, Any]:
    """Return an item of the queue as JSON values."""
    return {
        "id": item.id,
        "decision_id": item.decision_id,
        "slice_key": item.slice_key,
        "kind": item.kind,
        "state": item.state,
        "rank": item.rank,
        "level": item.level,
        "version": item.version,
        "digest": item.digest,
        "opened_at": item.opened_at.isoformat(),
        "deadline": item.deadline.isoformat(),
        "claimed_by": item.claimed_by,
        "lease_until": None if item.lease_until is None else item.lease_until.isoformat(),
        "approvals": list(item.approvals),
        "approvals_needed": item.rules.approvals,
        "release_at": None if item.release_at is None else item.release_at.isoformat(),
        "released": item.released,
        "edited_by": None if item.draft is None else item.draft.by,
        "verdict": _verdict_json(item),
    }


def row_json(row: RowDone) -> dict[str, Any]:
    """Return what became of an item among many as JSON values."""
    error = row.error
    return {
        "id": row.id,
        "review": None if row.review is None else review_json(row.review),
        "problem": None if error is None else {"code": type(error).__name__, "detail": str(error)},
    }


def _verdict_json(item: Review) -> dict[str, Any] | None:
    said = item.verdict
    if said is None:
        return None
    return {
        "action": said.action,
        "by": said.by,
        "at": said.at.isoformat(),
        "edited_fields": list(said.edited_fields),
        "reason": said.reason,
        "comment": said.comment,
    }


def item_json(item: ReviewItem) -> dict[str, Any]:
    """Return an item with its content as JSON values."""
    left_out = {"reasons", "feedback", "audit"}
    return {
        "review": review_json(item.review),
        "task": item.task,
        "source": [dict(one) for one in item.source],
        "output": item.output,
        "reasons": [dict(one) for one in item.reasons],
        "findings": list(item.decision.get("feedback", ())),
        "decision": {name: one for name, one in item.decision.items() if name not in left_out},
        "claims": dict(item.claims),
        "answer_first": item.is_withheld,
        "rescored": item.is_rescored,
    }
