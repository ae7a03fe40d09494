"""Watch every slice: audited precision, drift of scores, automation, second opinions (L3-L5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sureline.application.audit import MOST
from sureline.application.holding import CALIBRATION
from sureline.application.logbook import automation
from sureline.application.opinion_health import HealthReader, HealthReport, health_json
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, RouteDay, ScoreCount
from sureline.application.ports.registry import Registry
from sureline.application.route_rates import RoutePeriod, route_rates
from sureline.application.weekly_drift import WeekDrift, weekly_drift
from sureline.core.gate.routing import GUARD
from sureline.core.statistics.guard import GuardReading, GuardState, read_guard, update_all
from sureline.core.statistics.guard_detection import Detection, detection
from sureline.core.values.periods import day_number
from sureline.core.values.policy import Mode, Policy, SlicePolicy
from sureline.core.values.switch import Switch

VOLUME_DAYS = 28
"""Days before today from which the present volume is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """How watchful to be; all in (0, 1).

    `guard_alpha` is the chance that a slice is ever tripped while it keeps its target,
    `drift_alpha` that of any drift alarm since the reference. Automation below `low_automation`
    is remarked.
    """

    guard_alpha: float = 0.05
    drift_alpha: float = 0.05
    low_automation: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceWatch:
    """What is seen of one slice.

    `guard` reads the audited labels of what was decided since `guard_since` (None: ever).
    `turned` says that the slice's switch was turned on just now, `with_people` that it is on.
    `due` audits wait for an answer. `detection` says how long a fall by ten points would go
    unnoticed. `drift` is None until there is a reference and a whole week after it.
    `low_automation` remarks that a slice that automates does so less than half of the time; a
    mission goes on after most of its evaluations, so of a kind of mission that says nothing.
    """

    slice_key: str
    target: float
    guard: GuardReading
    guard_since: datetime | None
    turned: bool
    with_people: bool
    due: int
    detection: Detection
    drift: WeekDrift | None
    months: tuple[RoutePeriod, ...]
    low_automation: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReport:
    """What was seen of all slices of the policy, and of their second opinions, `at` a moment."""

    at: datetime
    slices: tuple[SliceWatch, ...]
    opinions: HealthReport

    @property
    def tripped(self) -> tuple[str, ...]:
        """Name the slices whose audited precision was shown to be below target."""
        return tuple(one.slice_key for one in self.slices if one.guard.tripped)

    @property
    def drifted(self) -> tuple[str, ...]:
        """Name the slices whose latest whole week alarms."""
        return tuple(one.slice_key for one in self.slices if one.drift and one.drift.alarm)

    @property
    def calm(self) -> bool:
        """Tell whether nothing tripped and nothing alarms."""
        return not self.tripped and not self.drifted and not self.opinions.alarms


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Watches one workspace, and gives a slice whose precision fell to people.

    With `acts` False it only looks.
    """

    ledger: Ledger
    registry: Registry
    policies: PolicyBook
    opinions: HealthReader
    clock: Clock
    workspace: str
    settings: WatchSettings = field(default_factory=WatchSettings)
    acts: bool = True

    async def watch(self) -> WatchReport:
        """Look at every slice once. Doing it again changes nothing more. Raises PolicyError.

        A slice that trips gets its ordinary switch turned on, in the ledger. Only a person turns
        it off; the guard then begins anew with what is decided from there on.
        """
        policy = await self.policies.latest()
        now = self.clock.now()
        activated = await self.registry.active(self.workspace, CALIBRATION)
        since = None if activated is None else activated.at
        history = await self.ledger.switch_history(self.workspace)
        days = await self.ledger.route_days(self.workspace)
        slices = [
            await self._look(
                policy, key, [one for one in days if one.slice_key == key], since, history, now
            )
            for key in sorted(policy.slices)
        ]
        return WatchReport(at=now, slices=tuple(slices), opinions=await self.opinions.read())

    async def _look(
        self,
        policy: Policy,
        key: str,
        days: Sequence[RouteDay],
        activated: datetime | None,
        history: Sequence[Switch],
        now: datetime,
    ) -> SliceWatch:
        one, measurement = policy.slices[key], policy.measurement_hashes[key]
        rows = [row for row in history if row.scope == f"slice:{key}"]
        since = guard_start(rows)
        guard = await self._guard(one, measurement, since)
        is_on = bool(rows) and rows[-1].on
        turned = self.acts and guard.tripped and not is_on
        if turned:
            await self._trip(one, guard, now)
        scores = await self.ledger.score_counts(self.workspace, key, measurement)
        months = route_rates(days).months
        return SliceWatch(
            slice_key=key,
            target=one.target_precision,
            guard=guard,
            guard_since=since,
            turned=turned,
            with_people=turned or is_on,
            due=len(await self.ledger.due_audits(self.workspace, key, MOST)),
            detection=self._detection(one, guard, days, now),
            drift=self._drift(scores, days, activated, now),
            months=months,
            low_automation=_aims_to_automate(one) and self._is_low(months),
        )

    async def _guard(
        self, policy: SlicePolicy, measurement: str, since: datetime | None
    ) -> GuardReading:
        labels = await self.ledger.audited_labels(self.workspace, policy.key, measurement, since)
        state = update_all(
            GuardState(target=policy.target_precision), (one.correct for one in labels)
        )
        return read_guard(state, self.settings.guard_alpha)

    async def _trip(self, policy: SlicePolicy, guard: GuardReading, now: datetime) -> None:
        await self.ledger.set_switch(
            Switch(
                workspace=self.workspace,
                scope=f"slice:{policy.key}",
                on=True,
                reason=trip_reason(policy.target_precision, guard, self.settings.guard_alpha),
                by=GUARD,
                changed_at=now,
            )
        )

    def _detection(
        self, policy: SlicePolicy, guard: GuardReading, days: Sequence[RouteDay], now: datetime
    ) -> Detection:
        today = day_number(now)
        lately = automation([one for one in days if 0 < today - one.day <= VOLUME_DAYS])
        return detection(
            target=policy.target_precision,
            alpha=self.settings.guard_alpha,
            weekly_automated=lately.automated / VOLUME_DAYS * 7,
            audit_rate=policy.audit_rate,
            healthy_labels=guard.since_label + guard.labels,
        )

    def _drift(
        self,
        scores: Sequence[ScoreCount],
        days: Sequence[RouteDay],
        activated: datetime | None,
        now: datetime,
    ) -> WeekDrift | None:
        return weekly_drift(
            scores, days, fixed_at=activated, now=now, alpha=self.settings.drift_alpha
        )

    def _is_low(self, months: Sequence[RoutePeriod]) -> bool:
        """Tell whether a slice that does automate did so too rarely in its latest month."""
        automates = any(month.automation for month in months)
        return automates and months[-1].automation < self.settings.low_automation


def _aims_to_automate(policy: SlicePolicy) -> bool:
    return policy.mode is Mode.ROUTE and not policy.is_mission


def guard_start(rows: Sequence[Switch]) -> datetime | None:
    """Return from when on decisions count for the guard: a person's reset, or None for always.

    `rows` are one scope's, oldest first. A reset is the turning off of what the guard turned on.
    Activating a calibration is none: with one a week the guard would never gather enough to see
    a fall, and its promise does not depend on which threshold was in force.
    """
    start, by_guard = None, False
    for row in rows:
        if row.on:
            by_guard = by_guard or row.by == GUARD
        elif by_guard:
            by_guard = False
            start = row.changed_at
    return start


def trip_reason(target: float, guard: GuardReading, alpha: float) -> str:
    """Say in one sentence why the guard gave a slice to people, with its figures."""
    return (
        f"audited precision is below the target {target:g}: {guard.errors} of the last "
        f"{guard.labels} audited outputs were wrong; the guard is mistaken with probability at "
        f"most {alpha:g}"
    )


def watch_json(report: WatchReport) -> dict[str, Any]:
    """Return a report as JSON values; moments and dates as ISO 8601."""
    return {
        "at": report.at.isoformat(),
        "tripped": list(report.tripped),
        "drifted": list(report.drifted),
        "opinions": health_json(report.opinions),
        "slices": [_slice_json(one) for one in report.slices],
    }


def _slice_json(one: SliceWatch) -> dict[str, Any]:
    found = asdict(one)
    found["guard_since"] = None if one.guard_since is None else one.guard_since.isoformat()
    if one.drift is not None:
        found["drift"]["week"] = one.drift.week.isoformat()
        found["drift"]["alarmed"] = [week.isoformat() for week in one.drift.alarmed]
        found["drift"]["reference"] = [week.isoformat() for week in one.drift.reference]
    found["months"] = [
        {
            "month": f"{month.first:%Y-%m}",
            "decisions": month.decisions,
            "automation": month.automation,
        }
        for month in one.months
    ]
    return found
