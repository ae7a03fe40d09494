"""Add up replayed decisions: automation, precision and people's work, before and after (L7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sureline.core.learning.replay import Recorded, Replayed
from sureline.core.statistics.stratified import StratifiedShare, Stratum, stratified_share
from sureline.core.values.decision import Route

_TO_PEOPLE = frozenset({Route.HUMAN_REVIEW, Route.HUMAN_REQUIRED, Route.ABSTAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """How `decisions` were, or would be, dealt with.

    `reviews` counts what people look at, audits of automated items included. `precision` is that
    of the automated ones, as far as labels tell. `unanswered` automated items were shown to a
    person who has not answered yet.
    """

    decisions: int
    routes: Mapping[str, int]
    automated: int
    reviews: int
    precision: StratifiedShare
    unanswered: int

    @property
    def automation(self) -> float:
        """Return the automated share, in [0, 1]; 0 without decisions."""
        return self.automated / self.decisions if self.decisions else 0.0


@dataclass(slots=True)
class _Count:
    """Counts of one situation; strata by propensity hold size, labels and correct."""

    routes: Counter[Route] = field(default_factory=Counter)
    audits: int = 0
    unanswered: int = 0
    strata: dict[float, list[int]] = field(default_factory=dict)

    def add(self, recorded: Recorded, route: Route, *, audit: bool) -> None:
        self.routes[route] += 1
        self.audits += audit
        if route is not Route.AUTO_APPROVE:
            return
        stratum = self.strata.setdefault(recorded.propensity, [0, 0, 0])
        stratum[0] += 1
        if not recorded.sampled:
            return  # a label that no sample asked for (an incident) would bias the share
        if recorded.correct is None:
            self.unanswered += 1
            return
        stratum[1] += 1
        stratum[2] += recorded.correct

    def situation(self) -> Situation:
        return Situation(
            decisions=self.routes.total(),
            routes={route.value: self.routes[route] for route in Route if self.routes[route]},
            automated=self.routes[Route.AUTO_APPROVE],
            reviews=sum(self.routes[route] for route in _TO_PEOPLE) + self.audits,
            precision=stratified_share(
                [
                    Stratum(size=size, labels=labels, correct=correct)
                    for _, (size, labels, correct) in sorted(self.strata.items())
                ]
            ),
            unanswered=self.unanswered,
        )


@dataclass(slots=True)
class Simulation:
    """Takes in replayed decisions one by one; its size does not grow with their number.

    `moved` counts decisions by their route before and after; `judged` counts the judge's calls
    and `judge_unknown` those of which nobody knows what the judge would have said.
    `incidents` counts automated outputs that turned out wrong without having been sampled.
    """

    judged: int = 0
    judge_unknown: int = 0
    incidents: int = 0
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    _before: _Count = field(default_factory=_Count)
    _after: _Count = field(default_factory=_Count)

    def add(self, recorded: Recorded, replayed: Replayed) -> None:
        """Take in one decision."""
        self._before.add(recorded, recorded.route, audit=recorded.audit)
        self._after.add(recorded, replayed.route, audit=replayed.audit)
        self.judged += replayed.judged
        self.judge_unknown += replayed.judge_unknown
        if replayed.route is not recorded.route:
            self.moved[recorded.route.value, replayed.route.value] += 1
        if replayed.route is Route.AUTO_APPROVE and not recorded.sampled:
            self.incidents += recorded.correct is False

    @property
    def before(self) -> Situation:
        """Return how the decisions were dealt with."""
        return self._before.situation()

    @property
    def after(self) -> Situation:
        """Return how they would be dealt with."""
        return self._after.situation()
