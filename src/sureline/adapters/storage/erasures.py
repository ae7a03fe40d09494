"""The port `Erasures` on the store's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.erase_mission import ENDED, EraseMission, erased_event
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.erase_subject import ABOUT, EraseSubjectPage
from sureline.adapters.storage.forget_views import ForgetViews
from sureline.adapters.storage.late_words import late_words
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.retention import EraseDue, past_due
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.erasures import DuePage, Hold
from sureline.core.values.mission_kind import MISSION_SLICE


class SqlErasures:
    """Erases in pages; see the port for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def about(self, workspace: str, subject: bytes) -> int:
        """Return how many decisions and missions about a subject are not erased."""
        rows = await self._database.read(ABOUT, (workspace, subject) * 2)
        return int(rows[0][0])

    async def erase_subject(
        self,
        workspace: str,
        subject: bytes,
        *,
        limit: int,
        by: str,
        reason: str,
        at: datetime,
    ) -> int:
        """Erase up to `limit` of what is about a subject; return how many, 0 when all is gone."""
        return await self._database.write(
            EraseSubjectPage(
                workspace=workspace, subject=subject, limit=limit, by=by, reason=reason, at=at
            )
        )

    async def erase_late(
        self, workspace: str, *, limit: int, by: str, reason: str, at: datetime
    ) -> int:
        """Erase words about up to `limit` erased decisions; return of how many there were any."""
        ids = await self._database.apart(lambda fetch: late_words(fetch, workspace, limit))
        if not ids:
            return 0

        def write(transaction: Transaction) -> int:
            return sum(
                ErasePayload(workspace, one, by, reason, at)(transaction) for one in sorted(ids)
            )

        return await self._database.write(write)

    async def forget_views(self, workspace: str, subject: str) -> int:
        """Delete the saved views that look for a subject's id; return how many there were."""
        return await self._database.write(ForgetViews(workspace=workspace, subject=subject))

    async def past_due(
        self, workspace: str, before: Mapping[str, datetime], after: str | None
    ) -> DuePage:
        """Return the next page of payloads of decisions made before a slice's moment."""
        return await past_due(self._database, workspace, before, after)

    async def erase_due(
        self,
        workspace: str,
        ids: Sequence[str],
        *,
        spared: frozenset[Hold],
        by: str,
        reason: str,
        at: datetime,
    ) -> int:
        """Erase those of these decisions that nothing holds now; return how many."""
        return await self._database.write(
            EraseDue(
                workspace=workspace, ids=tuple(ids), spared=spared, by=by, reason=reason, at=at
            )
        )

    async def past_missions(
        self, workspace: str, slice_key: str, before: datetime, *, after: str, limit: int
    ) -> Sequence[str]:
        """Return missions of a slice that ended before a moment and have their words still."""
        kind = slice_key.removeprefix(MISSION_SLICE)
        asked = (workspace, kind, to_micros(before), after, limit)
        rows = await self._database.apart(lambda fetch: fetch(ENDED, asked))
        return [row[0] for row in rows]

    async def erase_missions(
        self, workspace: str, ids: Sequence[str], *, by: str, reason: str, at: datetime
    ) -> int:
        """Erase the words of these missions, not what their evaluations quote; return how many."""

        def write(transaction: Transaction) -> int:
            return sum(
                EraseMission(
                    workspace=workspace,
                    mission_id=one,
                    event=erased_event(workspace, one, by=by, reason=reason, at=at),
                    evaluations=False,
                )(transaction)
                for one in ids
            )

        return await self._database.write(write)
