"""Verifies the chain page by page, and keeps on a table how that went."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, Table, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.chain_reader import verifying
from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import (
    from_micros,
    micros_or_none,
    moment_or_none,
    to_micros,
)
from sureline.adapters.storage.outbox_rows import put_notices
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.verifications import Extent, Verification
from sureline.core.chain import Head, heads_in, seal_body
from sureline.core.chain_verification import ChainReport
from sureline.core.ledger_verification import LedgerVerifier
from sureline.core.values.notification import Notice

LONGEST_REST = 1.0
"""Seconds; a page that took longer met a slow disk, not decisions."""

verifications = Table(
    "verifications",
    metadata,
    text_column("extent"),
    whole_column("at"),
    Column("ok", Integer, nullable=False),
    whole_column("rows"),
    text_column("said"),
    whole_column("held_at", null=True),
    Column("heads", LargeBinary, nullable=False),
    PrimaryKeyConstraint("extent"),
)
"""The latest of each extent; a chain is of the store, so no workspace has its own."""

_ALL = compiled(select(*verifications.columns).order_by(verifications.c.extent))
_insert = upsert(verifications)
_PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["extent"],
        set_={
            column.name: _insert.excluded[column.name]
            for column in verifications.columns
            if column.name != "extent"
        },
    )
)


class SqlVerifications:
    """Reads the chain gently; see the port `Verifications` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def verify(
        self, *, since: Mapping[str, Head] | None = None, earlier: Mapping[str, Head] | None = None
    ) -> ChainReport:
        """Verify in pages off the loop, each its own short transaction, with rests between."""
        common = self._database.common_stream
        ledger = LedgerVerifier(common, since=since, earlier=earlier)
        with self._database.reader() as fetch:
            pages = verifying(fetch, common, ledger)
            while True:
                began = time.monotonic()
                report = await _next(pages)
                if report is not None:
                    return report
                await asyncio.sleep(min(time.monotonic() - began, LONGEST_REST))

    async def latest(self) -> Sequence[Verification]:
        """Return the latest verification of each extent that there was one of."""
        return [
            Verification(
                extent=Extent(extent),
                at=from_micros(at),
                ok=bool(ok),
                rows=rows,
                said=said,
                held_at=moment_or_none(held_at),
                heads=heads_in(bytes(heads)),
            )
            for extent, at, ok, rows, said, held_at, heads in await self._database.read(_ALL)
        ]

    async def put(self, verification: Verification, notice: Notice | None) -> None:
        """Remember a verification, and a notice with it."""
        one = verification
        row = (
            *(one.extent.value, to_micros(one.at), int(one.ok), one.rows, one.said),
            *(micros_or_none(one.held_at), seal_body(one.heads)),
        )

        def write(transaction: Transaction) -> None:
            transaction.run(_PUT, row)
            if notice is not None:
                put_notices(transaction, [notice])

        await self._database.write(write)


async def _next(pages: Iterator[ChainReport | None]) -> ChainReport | None:
    """Take the next page off the loop; a cancellation waits until the reader is free."""
    page = asyncio.ensure_future(asyncio.to_thread(next, pages))
    try:
        return await asyncio.shield(page)
    except asyncio.CancelledError:
        await asyncio.wait([page])
        raise
