"""Where decisions went, by week and by month (L1, L3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sureline.application.ports.ledger import RouteDay
from sureline.core.values.decision import Route
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.periods import date_of, first_day_of, week_number

WEEKS = 13
MONTHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePeriod:
    """How many decisions took which route in the week or month that begins on `first` (UTC)."""

    first: date
    routes: Mapping[str, int]

    @property
    def decisions(self) -> int:
        """Return how many decisions there were."""
        return sum(self.routes.values())

    @property
    def automation(self) -> float:
        """Return the share that acted alone, in [0, 1]."""
        return self.routes.get(Route.AUTO_APPROVE, 0) / self.decisions

    @property
    def low(self) -> bool:
        """Tell whether less than half acted alone although some did."""
        return 0 < self.automation < 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRates:
    """The latest 13 weeks and 12 months that had decisions, oldest first."""

    weeks: tuple[RoutePeriod, ...]
    months: tuple[RoutePeriod, ...]

    @property
    def total(self) -> int:
        """Return how many decisions the months shown have."""
        return sum(month.decisions for month in self.months)


def of_proposals(days: Iterable[RouteDay]) -> list[RouteDay]:
    """Return what proposals became, without evaluations of missions.

    After most of its evaluations a mission goes on: a share of those that act alone would say
    nothing of how much the gate automates.
    """
    return [one for one in days if not one.slice_key.startswith(MISSION_SLICE)]


def route_rates(days: Sequence[RouteDay]) -> RouteRates:
    """Gather counts by day into weeks (from Monday) and calendar months."""
    return RouteRates(
        weeks=_periods(days, lambda day: first_day_of(week_number(day)))[-WEEKS:],
        months=_periods(days, lambda day: date_of(day).replace(day=1))[-MONTHS:],
    )


def _periods(days: Sequence[RouteDay], first_of: Callable[[int], date]) -> tuple[RoutePeriod, ...]:
    found: dict[date, Counter[str]] = {}
    for one in days:
        found.setdefault(first_of(one.day), Counter())[one.route] += one.count
    return tuple(RoutePeriod(first=first, routes=dict(found[first])) for first in sorted(found))
