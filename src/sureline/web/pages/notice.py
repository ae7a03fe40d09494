"""What has just been done, and until when it can be taken back; shown on the page after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sureline.core.values.outcome import Action
from sureline.core.values.review import Review, ReviewState
from sureline.web.pages.page import Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One sentence about the item `id`; `until` is set where it can still be taken back."""

    id: str
    sentence: str
    until: datetime | None
    now: datetime


async def notice_of(visit: Visit) -> Notice | None:
    """Return the notice about the item that the address names as done, if it is this person's."""
    name, now = visit.signed_in.key.name, visit.context.services.clock.now()
    done = visit.query.get("done")
    desk = visit.context.services.desk
    item = await desk.store.get(desk.workspace, done) if done else None
    if item is None:
        return None
    sentence = _sentence(item, name)
    if sentence is None:
        return None
    return Notice(
        id=item.id,
        sentence=sentence,
        until=item.release_at if can_undo(item, name, now) else None,
        now=now,
    )


def can_undo(item: Review, name: str, now: datetime) -> bool:
    """Tell whether a person can still take a verdict back."""
    verdict = item.verdict
    return (
        item.state is ReviewState.DECIDED
        and verdict is not None
        and verdict.by == name
        and not item.released
        and item.release_at is not None
        and now < item.release_at
    )


def _sentence(item: Review, name: str) -> str | None:
    verdict = item.verdict
    if item.state is ReviewState.DECIDED and verdict is not None and verdict.by == name:
        said = {Action.APPROVE: "approved", Action.EDIT: "edited", Action.REJECT: "rejected"}
        return f"You have {said.get(verdict.action, verdict.action)} {item.id}."
    if item.state.is_open and name in item.approvals:
        missing = item.rules.approvals - len(item.approvals)
        return f"{item.id} has your approval and waits for {missing} more."
    if item.state.is_open and name in item.skipped_by:
        return f"You have left {item.id} to others."
    if item.state is ReviewState.ESCALATED:
        return f"{item.id} is a step further up."
    return None
