"""Whether more comes into a queue than people can decide, and what would help (R9)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sureline.core.statistics.binomial import p_value

SURE = 0.01
"""The chance of calling a queue growing that is not, at one look."""
SHORT_OF_PEOPLE = 2.0
"""With so many times the people a slice could do; beyond, fewer items are the nearer lever."""


class Lever(StrEnum):
    """What can be done about it; a person pulls it, never the gate."""

    PEOPLE = "people"
    """More people, or more of their time."""
    THRESHOLD = "threshold"
    """Fewer items: a threshold that lets more act alone, where a certificate allows it."""
    AUDIT_RATE = "audit_rate"
    """Fewer audits of what acts alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What went through a queue in so many `days`, and what waits now.

    `arrived`, `audits` (of these), `decided` and `expired` are counts; `open` is how many wait,
    `oldest` how long the oldest has. `patience` is how long an item may wait before it expires.
    `is_routed` says that outputs of the slice may act alone.
    """

    days: float
    arrived: int
    audits: int
    decided: int
    expired: int
    open: int
    oldest: timedelta
    patience: timedelta
    is_routed: bool

    @property
    def arrivals_a_day(self) -> float:
        """Return how many come in a day."""
        return self.arrived / self.days

    @property
    def verdicts_a_day(self) -> float:
        """Return how many are decided in a day."""
        return self.decided / self.days

    @property
    def wait(self) -> timedelta | None:
        """Return how long what comes last would wait; None where nobody decides."""
        if not self.open:
            return timedelta(0)
        if not self.decided:
            return None
        return timedelta(days=min(self.open / self.verdicts_a_day, 36_500.0))

    def backlog_in(self, days: float) -> float:
        """Return how many would wait in so many days, if all goes on like this."""
        gone = (self.decided + self.expired) / self.days
        return max(0.0, self.open + days * (self.arrivals_a_day - gone))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overload:
    """More comes than is decided; `levers` come with what they would have to do, best first."""

    because: str
    levers: tuple[tuple[Lever, str], ...]

    @property
    def lever(self) -> Lever:
        """Return what to do first."""
        return self.levers[0][0]


def overload_of(load: Load) -> Overload | None:
    """Tell whether a queue is overloaded.

    It is where items have expired; or where significantly more came than was decided (binomial
    test at 1 %) and what comes now would not be decided before it expires.
    """
    if load.expired:
        because = f"{load.expired} expired undecided"
    elif _is_growing(load) and _is_late(load):
        because = f"{load.arrived} came and {load.decided} were decided"
    else:
        return None
    return Overload(because=because, levers=_levers(load))


def _is_growing(load: Load) -> bool:
    if load.arrived <= load.decided:
        return False
    return float(p_value(load.arrived, load.arrived + load.decided, 0.5)) < SURE


def _is_late(load: Load) -> bool:
    wait = load.wait
    return load.oldest * 2 > load.patience if wait is None else wait > load.patience


def _levers(load: Load) -> tuple[tuple[Lever, str], ...]:
    """Return what would help, the nearest first."""
    found: list[tuple[Lever, str]] = []
    enough = load.audits > 0 and load.arrived - load.audits <= load.decided
    if load.audits:
        what = "fewer audits are enough" if enough else "fewer audits help, and are not enough"
        found.append(
            (Lever.AUDIT_RATE, f"{load.audits} of {load.arrived} are audits: {what} (audit_rate)")
        )
    people = (Lever.PEOPLE, _more_people(load))
    if not load.is_routed or not 0 < load.decided < load.arrived:
        return (*found, people) if enough else (people, *found)
    fewer = 1 - load.decided / load.arrived
    threshold = (
        Lever.THRESHOLD,
        f"{fewer:.0%} fewer to people: a looser target_precision, where a certificate allows it",
    )
    is_far = load.arrived > SHORT_OF_PEOPLE * load.decided
    both = (threshold, people) if is_far else (people, threshold)
    return (*found, *both) if enough else (*both, *found)


def _more_people(load: Load) -> str:
    if not load.decided:
        return "somebody who decides: nobody did"
    if load.arrived <= load.decided:
        return "somebody who is there before the deadline"
    return f"{load.arrived / load.decided:.1f} times the people, or their time"
