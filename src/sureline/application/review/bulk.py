"""Say the same of many items: each is decided for itself, as it was shown (R3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sureline.application.review.desk import ReviewDesk, Said
from sureline.core.values.outcome import Action
from sureline.core.values.proposal import Stakes
from sureline.core.values.review import Review, ReviewKind
from sureline.errors import InvalidInput, NotFound, Refused, StoreError, SurelineError

IN_BULK = frozenset({Action.APPROVE, Action.REJECT, Action.SKIP, Action.ESCALATE})
"""What can be said of many: an edit is about one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An item that was selected, with the digest of the content that was shown."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDone:
    """What became of a row: the item as it is now, or why it is left as it was."""

    id: str
    review: Review | None = None
    error: SurelineError | None = None


Check = Callable[[Review], None]
"""Raises where this person may not decide about an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """One action on many items, by `by`; `check` is asked about each."""

    desk: ReviewDesk
    action: Action
    by: str
    reason: str | None = None
    comment: str | None = None
    check: Check = lambda _: None

    def __post_init__(self) -> None:
        if self.action not in IN_BULK:
            allowed = ", ".join(sorted(IN_BULK))
            raise InvalidInput(f"expected one of {allowed}, got {self.action}", field="action")

    async def do(self, rows: Sequence[Row]) -> list[RowDone]:
        """Do it row by row: one that cannot be done is told and holds up no other.

        Raises StoreError, and InvalidInput if a row is named twice.
        """
        if len({row.id for row in rows}) < len(rows):
            raise InvalidInput("expected each item once", field="items")
        return list(await asyncio.gather(*(self._row(row) for row in rows)))

    async def _row(self, row: Row) -> RowDone:
        try:
            return RowDone(id=row.id, review=await self._done(row))
        except StoreError:
            raise
        except SurelineError as error:
            return RowDone(id=row.id, error=error)

    async def _done(self, row: Row) -> Review:
        item = await self.desk.store.get(self.desk.workspace, row.id)
        if item is None:
            raise NotFound("there is no such review")
        self.check(item)
        if self.action is Action.SKIP:
            return await self.desk.skip(row.id, self.by, self.comment)
        if self.action is Action.ESCALATE:
            return await self.desk.escalate(row.id, self.by, self.comment)
        fault = bulk_fault(item) if self.action is Action.APPROVE else None
        if fault is not None:
            raise Refused(fault)
        said = Said(
            action=self.action,
            by=self.by,
            digest=row.digest,
            reason=self.reason,
            comment=self.comment,
        )
        return await self.desk.decide(row.id, said)


def bulk_fault(item: Review) -> str | None:
    """Say why an item is not approved unread, None where it may be."""
    if item.kind.has_acted:
        return (
            f"{'an audit' if item.kind is ReviewKind.AUDIT else 'a recalled output'} is answered "
            "one by one: it is there to be looked at"
        )
    if item.rank > Stakes.REVERSIBLE.rank:
        return "only reversible items are approved in bulk; look at this one by itself"
    if item.rules.approvals > 1:
        return "what several people must approve is not approved in bulk"
    return None
