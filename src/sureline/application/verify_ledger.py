"""Verify the ledger by itself: all of it daily, what is new soon after it was written (L12)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from sureline.application.ports.clock import Clock
from sureline.application.ports.jobs import Job
from sureline.application.ports.verifications import Extent, Verification, Verifications
from sureline.core.chain import Head
from sureline.core.chain_verification import ChainReport
from sureline.core.review.notice import broken_notice
from sureline.core.values.counted import counted

logger = logging.getLogger(__name__)

VERIFY = "verify"
"""The name of the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """Whether a ledger holds as far as can be said without reading all of it, in a sentence."""

    ok: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerWatch:
    """Verifies a store's chain; what does not hold is logged, remembered and told.

    It reads only the chain, never repairs, and stops nothing: who may act on a ledger that does
    not hold is for people to say. `workspace` is whose channels are told.
    """

    verifications: Verifications
    clock: Clock
    workspace: str

    async def whole(self) -> Verification:
        """Verify all of it; it must still run through where it was seen to hold. Raises StoreError.

        So rows that were cut off at the end, with the head set back, are missed only if they were
        written since, or if this memory was changed too.
        """
        held = await self._held()
        return await self._keep(Extent.WHOLE, await self.verifications.verify(earlier=held))

    async def tail(self) -> Verification:
        """Verify what was written since the last verification that held, or all if none did.

        Raises StoreError.
        """
        held = await self._held()
        if not held:
            return await self.whole()
        return await self._keep(Extent.TAIL, await self.verifications.verify(since=held))

    async def glance(self) -> Glance:
        """Verify as `tail` does, but remember and tell nothing. Raises StoreError."""
        latest, held = await self.verifications.latest(), await self._held()
        known = next((one for one in latest if not one.ok), None)
        if known is not None:
            return Glance(ok=False, said=f"{known.said} (seen {known.at.isoformat()})")
        report = await self.verifications.verify(since=held or None)
        if not held or not report.ok:
            return Glance(ok=report.ok, said=verified_words(report))
        moments = [one.held_at for one in latest if one.held_at is not None]
        since = max(moments).isoformat()
        rows = counted(report.rows, "row")
        return Glance(
            ok=True,
            said=f"verified: {rows} since {since}; NOT verified again: what was seen to hold then",
        )

    async def _held(self) -> Mapping[str, Head]:
        """Return the furthest heads of a verification that held."""
        found = [one.heads for one in await self.verifications.latest()]
        return max(found, key=_places, default={})

    async def _keep(self, extent: Extent, report: ChainReport) -> Verification:
        now = self.clock.now()
        before = {one.extent: one for one in await self.verifications.latest()}.get(extent)
        done = Verification(
            extent=extent,
            at=now,
            ok=report.ok,
            rows=report.rows,
            said=verified_words(report),
            held_at=now,
            heads=report.heads,
        )
        notice = None
        if report.fault is not None:
            held_at, heads = (None, {}) if before is None else (before.held_at, before.heads)
            done = replace(done, held_at=held_at, heads=heads)
            notice = broken_notice(report.fault, workspace=self.workspace, at=now)
        await self.verifications.put(done, notice)
        # The head goes to the log, which others keep: whoever changes the store cannot change it.
        log = logger.info if done.ok else logger.error
        log("%s (%s; head %s)", done.said, extent, report.head)
        return done


def verify_job(ledger: LedgerWatch, interval: timedelta) -> Job:
    """Return the job that verifies all of it; what it finds is no failure of the job."""

    async def verify() -> str:
        return (await ledger.whole()).said

    return Job(
        name=VERIFY,
        about="Verify the whole ledger, and tell where it does not hold.",
        interval=interval,
        run=verify,
    )


def verified_words(report: ChainReport) -> str:
    """Say in a sentence what was seen."""
    if report.fault is None:
        return f"the ledger holds: {counted(report.rows, 'row')} verified"
    fault = report.fault
    return f"the LEDGER DOES NOT HOLD: row {fault.seq}: {fault.message}"


def _places(heads: Mapping[str, Head]) -> int:
    return sum(head.seq for head in heads.values())
