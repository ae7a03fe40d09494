"""Finds items of the queue for people; see the port `InboxStore` for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from sureline.adapters.storage.candidates import Candidate, candidates
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.line_rows import LINES, line_of_row
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.queue_pages import Fetch
from sureline.adapters.storage.review_rows import COLUMNS, reviews
from sureline.adapters.storage.reviews import do_step, is_for, readable
from sureline.adapters.storage.statement import LISTED, compiled, json_list
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.inbox import LOOKED_AT, Found, FoundCount, Sought
from sureline.application.ports.reviews import Step, Wanted
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine

_BY_IDS = compiled(
    select(*COLUMNS).where(reviews.c.workspace == bindparam("workspace"), reviews.c.id.in_(LISTED))
)
TRIED = 500
"""How many items are tried before it is said that none is free for this person."""
READ_AT_ONCE = 50


class SqlInbox:
    """The port `InboxStore` on the queue's tables; everything is read off the loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self,
        workspace: str,
        wanted: Wanted,
        sought: Sought,
        *,
        now: datetime,
        limit: int,
        offset: int = 0,
    ) -> Found:
        """Return a page in working order; of what is over, the newest first."""

        def read() -> Found:
            search = _Search(sought, offset + limit + 1)
            with self._database.reader() as fetch:
                found = candidates(fetch, workspace, wanted, sought, now=to_micros(now))
                ids = [one.id for one in search.among(found)]
                page = ids[offset : offset + limit]
                items = _items(fetch, workspace, page)
                lines = lines_of(fetch, workspace, page)
            more = len(ids) > offset + limit
            return Found(items=items, lines=lines, more=more, is_whole=search.is_whole)

        return await asyncio.to_thread(read)

    async def lines(self, workspace: str, ids: Sequence[str]) -> dict[str, ReviewLine]:
        """Return the lines of items, by id."""

        def read() -> dict[str, ReviewLine]:
            with self._database.reader() as fetch:
                return lines_of(fetch, workspace, ids)

        return await asyncio.to_thread(read)

    async def count(
        self, workspace: str, wanted: Wanted, sought: Sought, *, now: datetime, most: int
    ) -> FoundCount:
        """Return how many there are, counting no further than `most`."""

        def read() -> FoundCount:
            search = _Search(sought, most + 1)
            with self._database.reader() as fetch:
                found = candidates(fetch, workspace, wanted, sought, now=to_micros(now))
                count = len(search.among(found))
            return FoundCount(count=min(count, most), is_whole=search.is_whole and count <= most)

        return await asyncio.to_thread(read)

    async def claim_next(
        self,
        workspace: str,
        wanted: Wanted,
        sought: Sought,
        step: Step,
        *,
        by: str,
        now: datetime,
        after: str | None = None,
    ) -> Review | None:
        """Do a step with the first that is free; what is looked for is found before the lock."""
        ids = await asyncio.to_thread(self._ids, workspace, wanted, sought, now)
        if after in ids:
            place = ids.index(after)
            ids = [*ids[place + 1 :], *ids[:place]]

        def write(transaction: Transaction) -> Review | None:
            for item in _one_by_one(transaction.all, workspace, ids[:TRIED]):
                is_free = not item.is_held(now) or item.claimed_by == by
                if item.state.is_open and is_free and is_for(item, by):
                    done = do_step(transaction, item, step)
                    if done.claimed_by == by:
                        return done
            return None

        return await self._database.write(write)

    def _ids(self, workspace: str, wanted: Wanted, sought: Sought, now: datetime) -> list[str]:
        with self._database.reader() as fetch:
            found = candidates(fetch, workspace, wanted, sought, now=to_micros(now))
            return [one.id for one in _Search(sought, TRIED).among(found)]


class _Search:
    """Looks at candidates for as many as are needed; `is_whole` says whether all were seen."""

    def __init__(self, sought: Sought, most: int) -> None:
        self._words = sought.words
        self._reason = sought.reason
        self._most = most
        self.is_whole = True

    def among(self, found: Iterable[Candidate]) -> list[Candidate]:
        """Return what matches, in its order."""
        matches: list[Candidate] = []
        for number, one in enumerate(found):
            if number >= LOOKED_AT:
                self.is_whole = False
                break
            if self._matches(one):
                matches.append(one)
                if len(matches) >= self._most:
                    break
        return matches

    def _matches(self, one: Candidate) -> bool:
        if self._reason and self._reason not in (one.reasons or "").split():
            return False
        if not self._words:
            return True
        parts = (one.task, one.slice_key, one.id, one.reasons, one.found)
        text = "\n".join(part or "" for part in parts).casefold()
        return all(word in text for word in self._words)


def lines_of(fetch: Fetch, workspace: str, ids: Sequence[str]) -> dict[str, ReviewLine]:
    """Return the lines of items, by id."""
    rows = fetch(LINES, (workspace, json_list(ids)))
    return {row[0]: line_of_row(*row[1:]) for row in rows}


def _one_by_one(fetch: Fetch, workspace: str, ids: Sequence[str]) -> Iterator[Review]:
    for start in range(0, len(ids), READ_AT_ONCE):
        yield from _items(fetch, workspace, ids[start : start + READ_AT_ONCE])


def _items(fetch: Fetch, workspace: str, ids: Sequence[str]) -> list[Review]:
    """Return the items that can be read, in the order of their ids here."""
    found = {one.id: one for one in readable(iter(fetch(_BY_IDS, (workspace, json_list(ids)))))}
    return [found[one] for one in ids if one in found]
