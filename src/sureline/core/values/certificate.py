"""The proof that a threshold keeps its target precision, and what it rests on (G20)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Scale(StrEnum):
    """Which number a threshold is compared with."""

    COMPOSITE = "composite"
    """The weighted mean of the signals."""
    CALIBRATED = "calibrated"
    """The probability of being correct that a calibration map gives."""


class ErrorRate(StrEnum):
    """What the allowed failure probability delta is spread over."""

    PER_SLICE = "per_slice"
    """Each slice may be wrong with probability delta."""
    FAMILY = "family"
    """All slices together may be wrong with probability delta (Bonferroni)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedErrors:
    """The allowance that a certificate makes for errors that those who label miss.

    They noticed `caught` of `shown` planted errors; `pooled` says in all slices together, because
    this one had too few. With confidence 1 - `labels_delta` they notice a share of at least
    `noticed_at_least`, and the labels had to show `labels_target`, with the same confidence.
    """

    caught: int
    shown: int
    pooled: bool
    noticed_at_least: float
    labels_target: float
    labels_delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A threshold whose true precision is below `target` with probability at most `delta`.

    `n` labels were used, `in_band` of them at or above `threshold`, `correct` of those correct.
    `coverage` = in_band / n. `lower_bound` is the one-sided Clopper-Pearson bound of precision
    at or above the threshold, at confidence 1 - `delta`. `delta` is what this slice was given:
    with `error_rate` family it is the family's delta divided by `family_size`. `scale` is what
    the threshold is compared with. `labels_excluded` were given by people who were shown not to
    look, and counted for nothing. With `missed_errors` the promise is about the true precision,
    and `lower_bound` as well; without, about the precision that labels of such people state.
    """

    id: str
    workspace: str
    slice_key: str
    threshold: float
    target: float
    delta: float
    error_rate: ErrorRate
    family_size: int
    n: int
    in_band: int
    correct: int
    coverage: float
    lower_bound: float
    method: str
    data_hash: str
    policy_hash: str
    measurement_hash: str
    issued_at: datetime
    scale: Scale = Scale.COMPOSITE
    labels_excluded: int = 0
    missed_errors: MissedErrors | None = None

    def void_reason(
        self,
        *,
        measurement_hash: str,
        target: float,
        delta: float,
        now: datetime,
        max_age: timedelta,
        missed_errors: bool = False,
    ) -> str | None:
        """Say why this certificate does not hold now, or None if it does.

        `missed_errors` says that it must allow for errors that those who label miss.
        """
        if self.measurement_hash != measurement_hash:
            return "measurement_changed"
        promises_less = self.target < target or self.delta > delta
        if promises_less or (missed_errors and self.missed_errors is None):
            return "target_raised"
        if now < self.issued_at - timedelta(minutes=5):
            return "issued_in_future"
        if now - self.issued_at > max_age:
            return "expired"
        return None


class NoCertificate(StrEnum):
    """Why a slice has no certificate; they need different answers (case C08)."""

    INSUFFICIENT_DATA = "insufficient_data"
    """Too few labels: more, without too many errors, may do."""
    NO_CERTIFIABLE_THRESHOLD = "no_certifiable_threshold"
    """Enough labels, but no band of scores is precise enough."""
    MISSED_ERRORS = "missed_errors"
    """Labels would do at face value, but not with the errors that reviewers may miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertified:
    """Why there is no certificate, and what is missing.

    `labels_missing` counts further labels without an error that would certify the best band
    (None where no number of them is known to do). `best_lower_bound` is the best exact lower
    bound of precision over the bands and `best_threshold` where it is reached. `labels_excluded`
    were given by people who were shown not to look.
    """

    slice_key: str
    reason: NoCertificate
    n: int
    labels_missing: int | None
    best_lower_bound: float | None
    best_threshold: float | None
    message: str
    labels_excluded: int = 0
