"""The list of what waits, narrowed to what somebody looks for, and the next item of it."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.ports.inbox import Found, FoundCount, InboxStore, Sought
from sureline.application.ports.reviews import Wanted
from sureline.application.review.claiming import UNTOUCHED, claiming
from sureline.application.review.desk import ReviewDesk
from sureline.core.values.review import Review
from sureline.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Finds items at a cost that does not grow with the queue."""

    store: InboxStore
    desk: ReviewDesk

    async def page(self, wanted: Wanted, sought: Sought, *, limit: int, offset: int = 0) -> Found:
        """Return a page of what is meant, in working order."""
        desk = self.desk
        if not sought.is_anything:
            now = desk.clock.now()
            return await self.store.find(
                desk.workspace, wanted, sought, now=now, limit=limit, offset=offset
            )
        items = await desk.page(wanted, limit=limit + 1, offset=offset)
        lines = await self.store.lines(desk.workspace, [one.id for one in items[:limit]])
        return Found(items=items[:limit], lines=lines, more=len(items) > limit)

    async def count(self, wanted: Wanted, sought: Sought, *, most: int) -> FoundCount:
        """Return how many are meant, counting no further than `most`."""
        desk = self.desk
        return await self.store.count(
            desk.workspace, wanted, sought, now=desk.clock.now(), most=most
        )

    async def next(
        self,
        by: str,
        wanted: Wanted,
        sought: Sought,
        *,
        leaving: str | None = None,
        keeps: bool = False,
    ) -> Review | None:
        """Claim the most urgent of what is meant and give back the one that is left for it.

        None where there is no other one for this person. What they hold and look through
        (`held_by`) they keep, and what they say that they keep. Nobody asked for this very item:
        its claim is short (`UNTOUCHED`) until they claim it or its page holds on to it.
        """
        if sought.is_anything:
            found = await self.desk.next(by, wanted, most=UNTOUCHED)
            if found is not None and found.id == leaving:
                found = await self.desk.next(by, wanted, most=UNTOUCHED)
        else:
            now = self.desk.clock.now()
            found = await self.store.claim_next(
                self.desk.workspace,
                await self.desk.offered(by, wanted),
                sought,
                claiming(by, now, most=UNTOUCHED),
                by=by,
                now=now,
                after=leaving,
            )
        if leaving is not None and sought.held_by is None and not keeps:
            await self.give_back(leaving, by)
        return found

    async def give_back(self, review_id: str, by: str) -> None:
        """Let go of an item if this person has it; where somebody else has, nothing is to do."""
        desk = self.desk
        try:
            item = await desk.store.get(desk.workspace, review_id)
            if item is not None and item.claimed_by == by:
                await desk.release(review_id, by)
        except (Conflict, NotFound):
            return
