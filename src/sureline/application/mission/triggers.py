"""When a supervised mission is invoked next: at an interval, or at times of a local clock (M25).

What was missed, because this program was down or an hour was skipped, is one invocation, never a
storm of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sureline.application.ports.processes import Firing

_MOST_AHEAD = timedelta(hours=26)
"""A clock set back by more was wrong before; so much covers a day with its change of time."""
_BEFORE = timedelta(hours=3)
"""More than any clock is set back when the season ends."""


class Interval:
    """Fires at once, then every so many seconds of a clock that nobody sets.

    The moments are multiples from the first, so that they do not drift; those that passed while
    nobody asked are one.
    """

    skips = True

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next: float | None = None

    def due(self, now: datetime, elapsed: float) -> Firing | None:  # noqa: ARG002
        """Return what is due; `elapsed` are seconds that never run backwards."""
        if self._next is None:
            self._next = elapsed
        if elapsed < self._next:
            return None
        periods = int((elapsed - self._next) // self._seconds) + 1
        self._next += periods * self._seconds
        return Firing(name=f"every {self._seconds:g} s")

    def take(self, firing: Firing, now: datetime) -> Firing | None:  # noqa: ARG002
        """Take it: there is nothing that another could have taken."""
        return firing

    def done(self, firing: Firing, *, ok: bool | None) -> None:
        """Forget it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTimes:
    """Times of a local clock: `following` returns the one after a time, both without a zone.

    An hour that comes twice has each time once, the first of both, and a time that is skipped is
    the moment at which the clock jumps. With `every_hour` times follow the hours as they pass: the
    hour that comes twice has them twice, and there are none in one that is skipped.
    """

    following: Callable[[datetime], datetime]
    zone: ZoneInfo
    every_hour: bool = False

    def after(self, moment: datetime) -> datetime:
        """Return the first moment after another, in UTC."""
        # A clock may have stood ahead of where it stands: begin before, then pass over.
        local = moment.astimezone(self.zone).replace(tzinfo=None) - _BEFORE
        best: datetime | None = None
        while True:
            local = self.following(local)
            moments = self._moments(local)
            # Of an hour that comes twice, 1:50 the first time is before 1:40 the second time.
            if best is not None and moments and moments[0] > best:
                return best
            later = [one for one in moments if one > moment]
            best = min([*later, best] if best is not None else later, default=None)

    def _moments(self, local: datetime) -> list[datetime]:
        """Return when a local clock shows a time: once, twice, or never and so when it jumps."""
        first, second = (
            local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)
        )
        if second < first:  # the clock jumps over it
            return [] if self.every_hour else [self._jump(second, first)]
        return [first, second] if self.every_hour and second > first else [first]

    def _jump(self, before: datetime, after: datetime) -> datetime:
        """Return the moment between two at which the clock's distance from UTC changes."""
        earlier = self._offset(before)
        while after - before > timedelta(seconds=1):
            middle = (before + (after - before) / 2).replace(microsecond=0)
            if self._offset(middle) == earlier:
                before = middle
            else:
                after = middle
        return after

    def _offset(self, moment: datetime) -> timedelta | None:
        return moment.astimezone(self.zone).utcoffset()


@dataclass(slots=True, kw_only=True)
class Cron:
    """Fires at times of a local clock; `since` is the moment from which on they count.

    Each moment counts once, whatever is done to the clock: one that is set back does not bring
    back what has fired.
    """

    name: str
    times: LocalTimes
    since: datetime
    skips: bool = True
    _next: datetime | None = field(default=None, init=False)

    def due(self, now: datetime, elapsed: float) -> Firing | None:  # noqa: ARG002
        """Return what is due; however many times have passed, they are one."""
        if self.since - now > _MOST_AHEAD:
            self.since, self._next = now, None
        if self._next is None:
            self._next = self.times.after(self.since)
        if now < self._next:
            return None
        self.since, self._next = now, None
        return Firing(name=self.name)

    def take(self, firing: Firing, now: datetime) -> Firing | None:  # noqa: ARG002
        """Take it: there is nothing that another could have taken."""
        return firing

    def done(self, firing: Firing, *, ok: bool | None) -> None:
        """Forget it."""
