"""Route a recorded decision again, under another policy, threshold or weights (L7).

Nothing is measured: recorded signals are composed and routed by the gate's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.gate.composition import JUDGE, assess
from sureline.core.gate.judging import Judging, should_judge
from sureline.core.gate.routing import Circumstances, route
from sureline.core.gate.stakes import AtStake, settle_stakes
from sureline.core.gate.thresholds import Threshold, threshold_now
from sureline.core.values.assessment import Assessment
from sureline.core.values.certificate import Certificate, Scale
from sureline.core.values.decision import Route
from sureline.core.values.policy import ActionClass, SlicePolicy
from sureline.core.values.proposal import Proposal, Stakes
from sureline.core.values.signal import Signal, SignalKind, SignalState

GIVEN = "given"
"""Stands for a certificate where a threshold is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the ledger holds of one decision.

    `route` is the one it took, or would have taken had its slice not been in log-only mode.
    `claimed_stakes` and `claimed_class` are what the proposal said itself. `sampled` says that a
    person was to see it, by `audit` or otherwise, which had the probability `propensity`;
    `correct` is None without a label. `certifies` says that a label may certify a threshold: it
    belongs to a fair sample and was not set apart for fitting.
    """

    id: str
    route: Route
    signals: tuple[Signal, ...]
    unreadable: bool
    forced: bool
    claimed_stakes: Stakes | None
    claimed_class: str | None
    attempt: int
    sample_key: str
    variant: str | None
    audit: bool
    sampled: bool
    propensity: float
    certifies: bool
    correct: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The rules of one slice that are tried; `measurement` names what its scores depend on.

    `threshold` replaces any certificate. `maps` are those of the active calibration, as long as
    scores are composed as they were.
    """

    policy: SlicePolicy
    action_classes: Mapping[str, ActionClass]
    certificate: Certificate | None
    threshold: float | None
    measurement: str
    maps: SliceMaps
    secret: bytes
    now: datetime

    def threshold_at(self, stakes: Stakes) -> Threshold:
        """Return the threshold that the trial has for these stakes."""
        found = threshold_now(
            self.policy,
            self.certificate,
            measurement_hash=self.measurement,
            stakes=stakes,
            now=self.now,
        )
        if self.threshold is None:
            return found
        return replace(found, auto=self.threshold, certificate=GIVEN, absent=None, scale=None)

    @property
    def scale(self) -> Scale:
        """Return what a threshold that is certified in the trial is compared with."""
        return Scale.COMPOSITE if self.maps == NO_MAPS else Scale.CALIBRATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Where a decision would go; `value` is its number on the trial's scale.

    `eligible` says that nothing but a threshold, or a state of the slice, keeps it from automation.
    `judged` says that a judge would be called, `judge_unknown` that nobody knows what it would
    have said. A judge that must speak and is unknown sends the item to a person.
    """

    route: Route
    value: float | None
    eligible: bool
    audit: bool
    judged: bool
    judge_unknown: bool


def replay(recorded: Recorded, trial: Trial) -> Replayed:
    """Compose and route the decision anew; kill switches and the guard are left out."""
    at_stake = settle_stakes(_claims(recorded), trial.policy, trial.action_classes)
    threshold = trial.threshold_at(at_stake.stakes)
    judging = _judging(recorded, trial, at_stake, threshold)
    signals, unknown = _signals(recorded, trial, judging)
    assessed = _assessed(recorded, trial, signals)
    routing = route(
        assessed,
        trial.policy,
        Circumstances(
            threshold=threshold,
            at_stake=at_stake,
            judging=judging,
            switches=(),
            force_human=recorded.forced,
            attempt=recorded.attempt,
            secret=trial.secret,
            decision_id=recorded.id,
        ),
    )
    return Replayed(
        route=routing.route,
        value=assessed.on(trial.scale),
        eligible=routing.eligible,
        audit=routing.audit,
        judged=judging is not Judging.NONE,
        judge_unknown=unknown,
    )


def _claims(recorded: Recorded) -> Proposal:
    """Return a proposal that says what the recorded one said of its stakes, and nothing else."""
    return Proposal(
        slice_key="",
        task="",
        output=None,
        action_class=recorded.claimed_class,
        stakes=recorded.claimed_stakes,
    )


def _unjudged(recorded: Recorded) -> tuple[Signal, ...]:
    return tuple(signal for signal in recorded.signals if signal.name != JUDGE)


def _judging(recorded: Recorded, trial: Trial, at_stake: AtStake, threshold: Threshold) -> Judging:
    return should_judge(
        _assessed(recorded, trial, _unjudged(recorded)),
        trial.policy,
        stakes=at_stake.stakes,
        threshold=threshold,
        secret=trial.secret,
        sample_key=recorded.sample_key,
        attempt=recorded.attempt,
    )


def _signals(recorded: Recorded, trial: Trial, judging: Judging) -> tuple[tuple[Signal, ...], bool]:
    """Return the signals with the judge's, and whether the judge's word is unknown."""
    others = _unjudged(recorded)
    if trial.policy.judge is None:
        return others, False
    said = next((signal for signal in recorded.signals if signal.name == JUDGE), None)
    unsaid = said is None or said.state is SignalState.NOT_SAMPLED
    if judging is Judging.NONE or (unsaid and judging is Judging.SAMPLED):
        left_out = Signal.not_sampled(JUDGE, SignalKind.JUDGE)
        return (*others, left_out), judging is not Judging.NONE
    if said is None or unsaid:
        return (*others, Signal.failed(JUDGE, SignalKind.JUDGE, "not_recorded")), True
    return (*others, said), False


def _assessed(recorded: Recorded, trial: Trial, signals: tuple[Signal, ...]) -> Assessment:
    return assess(signals, trial.policy, unreadable=recorded.unreadable, maps=trial.maps)
