"""What there is to tell after a step: read off the item before and after it (R10)."""

from __future__ import annotations

import hashlib
from datetime import datetime

from sureline.core.values.notification import Notice, NoticeKind
from sureline.core.values.review import Review, ReviewKind, ReviewState


def notices(before: Review | None, after: Review) -> tuple[Notice, ...]:
    """Return what happened between two states of an item; `before` None opens it.

    Audits are blind and nobody waits for them: nothing is told.
    """
    if after.kind is ReviewKind.AUDIT:
        return ()
    if before is None:
        return (_notice(after, NoticeKind.OPENED, after.opened_at),) if after.state.is_open else ()
    found = []
    if after.level > before.level:
        found.append(_notice(after, NoticeKind.ESCALATED, after.deadline - after.rules.deadline))
    if after.released and not before.released:
        if after.state is ReviewState.EXPIRED:
            found.append(_notice(after, NoticeKind.EXPIRED, after.deadline))
        if after.state is ReviewState.DECIDED and after.verdict is not None:
            found.append(_notice(after, NoticeKind.DECIDED, after.verdict.at))
    return tuple(found)


def delivery_id(notice_id: str, channel: str) -> str:
    """Return the id of telling a notice to a channel: the same on every try, its own for each."""
    return f"dlv_{_digest(notice_id, channel)}"


def _notice(item: Review, kind: NoticeKind, at: datetime) -> Notice:
    decided = kind is NoticeKind.DECIDED and item.verdict is not None
    return Notice(
        workspace=item.workspace,
        id=f"evt_{_digest(item.workspace, item.id, kind, str(item.level))}",
        kind=kind,
        slice_key=item.slice_key,
        review_id=item.id,
        decision_id=item.decision_id,
        at=at,
        submitted_by=item.submitted_by,
        action=item.verdict.action.value if decided and item.verdict else None,
        level=item.level,
    )


def _digest(*parts: str) -> str:
    """Return 128 bits in hexadecimal; ids of proposals are any text, and headers are not."""
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]
