"""What every operation of one server shares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sureline.application.calibration_report import CalibrationReport
from sureline.bootstrap import Services
from sureline.web.access import Access
from sureline.web.body import BodyReader
from sureline.web.kept_report import KeptReport
from sureline.web.live_queue import LiveQueue
from sureline.web.load import Seats
from sureline.web.metrics import Metrics
from sureline.web.mission_counts import MissionCounts
from sureline.web.rate_limit import RateLimit
from sureline.web.settings import ServerSettings
from sureline.web.view_counts import ViewCounts

Result = TypeVar("Result")

SIGN_INS_PER_SECOND, SIGN_INS_AT_ONCE = 1.0, 60.0
"""Of one address; behind a proxy all people share one."""
INBOUND_PER_SECOND, INBOUND_AT_ONCE = 50.0, 500.0
"""Deliveries of one address, signed or not."""
INBOUND_BUFFERED = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """A server's services, limits and counters; `closing` is set when it is about to stop."""

    services: Services
    settings: ServerSettings
    access: Access
    sign_ins: RateLimit
    inbound: RateLimit
    bodies: BodyReader
    inbound_bodies: BodyReader
    """Whoever sends these is known only by their bytes: they get a budget of their own."""
    deciding: Seats
    waiting: Seats
    long_work: Seats
    kept_report: KeptReport
    live: LiveQueue
    view_counts: ViewCounts
    mission_counts: MissionCounts
    metrics: Metrics
    closing: asyncio.Event
    under_way: set[asyncio.Task[Any]] = field(default_factory=set)
    """Work that goes on after its answer; held so that it is not lost."""

    @classmethod
    def of(cls, services: Services, settings: ServerSettings) -> ServerContext:
        """Make the context of a server on `services`."""
        rate = RateLimit(
            services.clock, per_second=settings.requests_per_second, burst=settings.burst
        )
        context = cls(
            services=services,
            settings=settings,
            access=Access(
                services.keys,
                services.clock,
                rate,
                workspace=services.workspace,
                seconds=settings.key_seconds,
            ),
            sign_ins=RateLimit(
                services.clock, per_second=SIGN_INS_PER_SECOND, burst=SIGN_INS_AT_ONCE
            ),
            inbound=RateLimit(services.clock, per_second=INBOUND_PER_SECOND, burst=INBOUND_AT_ONCE),
            bodies=BodyReader(settings),
            inbound_bodies=BodyReader(
                replace(settings, buffered_bytes=min(settings.buffered_bytes, INBOUND_BUFFERED))
            ),
            deciding=Seats(settings.deciding),
            waiting=Seats(settings.waiting),
            long_work=Seats(1),
            kept_report=KeptReport(services.clock),
            live=_live(services, settings),
            view_counts=ViewCounts(services.clock),
            mission_counts=_mission_counts(services, settings),
            metrics=Metrics(),
            closing=asyncio.Event(),
        )
        context.metrics.store.figures = services.store.database.figures
        context.metrics.deciding.set_function(lambda: context.deciding.taken)
        context.metrics.waiting.set_function(lambda: context.waiting.taken)
        return context

    async def report(self) -> CalibrationReport | None:
        """Return a report of the last minute for pages; None while the first is drawn up.

        Raises PolicyError.
        """
        mark = await self.services.registry.activation_mark()
        return await self.kept_report.latest(
            lambda: self.off_loop(self.services.reporter.report), mark
        )

    async def fresh_report(self) -> CalibrationReport:
        """Return a report of now. Raises PolicyError, and Overloaded beside other such work."""
        mark = await self.services.registry.activation_mark()
        return await self.kept_report.fresh(
            lambda: self.off_loop(self.services.reporter.report), mark
        )

    async def off_loop(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run work that computes for long on a loop of its own, one at a time.

        Decisions go on meanwhile. Raises Overloaded while other such work runs.
        """
        with self.long_work:
            return await asyncio.to_thread(lambda: asyncio.run(work()))


def _live(services: Services, settings: ServerSettings) -> LiveQueue:
    return LiveQueue(
        services.desk.counts,
        every=settings.count_seconds,
        most=settings.streams,
        most_of_one=settings.streams_of_one,
    )


def _mission_counts(services: Services, settings: ServerSettings) -> MissionCounts:
    return MissionCounts(
        lambda: services.store.missions.counts(services.workspace),
        services.clock,
        every=settings.count_seconds,
    )
