"""Certify a threshold for the true precision where those who label miss some errors (R7).

The labels must show more than the target, by as much as planted errors leave open
(`demand_under_noise`). The certificate then promises the target itself, with the same delta.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log

from sureline.core.statistics.certificate import Demand, Provenance, certify, named
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.statistics.noisy_labels import demand_under_noise
from sureline.core.statistics.tally import Tally
from sureline.core.values.certificate import (
    Certificate,
    MissedErrors,
    NoCertificate,
    Uncertified,
)

LEAST = 0.5
"""Where it is not shown that at least this share of errors is noticed, nothing is certified.

Below it labels say little, and so many would be needed that the allowance itself is in doubt.
"""


def certify_allowing(
    tally: Tally,
    *,
    slice_key: str,
    demand: Demand,
    provenance: Provenance,
    measured: MeasuredDetection,
) -> Certificate | Uncertified:
    """Certify like `certify`, for the precision that is left where errors were missed.

    The certificate's target, delta and lower bound are those of the true precision;
    `missed_errors` says what the labels had to show for it, and on which planted errors that
    rests. Where labels would do at face value only, the reason is `missed_errors`.
    """
    plain = certify(tally, slice_key=slice_key, demand=demand, provenance=provenance)
    allowance = _allowance(demand, measured)
    if allowance.noticed_at_least < LEAST:
        return plain if isinstance(plain, Uncertified) else _unknown(plain, allowance)
    strict = Demand(target=allowance.labels_target, delta=allowance.labels_delta)
    found = certify(tally, slice_key=slice_key, demand=strict, provenance=provenance)
    if isinstance(found, Uncertified):
        return found if isinstance(plain, Uncertified) else _lacking(found, allowance)
    return named(
        replace(
            found,
            target=demand.target,
            delta=demand.allowed,
            error_rate=demand.error_rate,
            family_size=demand.family_size,
            lower_bound=1 - (1 - found.lower_bound) / allowance.noticed_at_least,
            missed_errors=allowance,
        )
    )


def _allowance(demand: Demand, measured: MeasuredDetection) -> MissedErrors:
    seen = measured.used
    target, delta = demand_under_noise(demand.target, demand.allowed, seen)
    return MissedErrors(
        caught=seen.caught,
        shown=seen.shown,
        pooled=measured.pooled,
        noticed_at_least=(1 - target) / (1 - demand.target),
        labels_target=target,
        labels_delta=delta,
    )


def _unknown(plain: Certificate, allowance: MissedErrors) -> Uncertified:
    least = ceil(log(allowance.labels_delta) / log(LEAST))
    return Uncertified(
        slice_key=plain.slice_key,
        reason=NoCertificate.MISSED_ERRORS,
        n=plain.n,
        labels_missing=None,
        best_lower_bound=plain.lower_bound,
        best_threshold=plain.threshold,
        message=f"The labels would do at face value, but {_noticed(allowance)}, which does not "
        f"show that reviewers notice at least {LEAST:.0%} of the errors ({least} of {least} "
        "would). More must be planted (review.honeypots), or noticed, before anything is "
        "certified for the errors that are missed",
        labels_excluded=plain.labels_excluded,
    )


def _lacking(found: Uncertified, allowance: MissedErrors) -> Uncertified:
    return replace(
        found,
        reason=NoCertificate.MISSED_ERRORS,
        message=f"The labels would do at face value, but {_noticed(allowance)}: it is shown that "
        f"{allowance.noticed_at_least:.1%} of the errors are noticed, so labels must show a "
        f"precision of {allowance.labels_target:.2%}. {found.message}; more planted errors would "
        "help as well",
    )


def _noticed(allowance: MissedErrors) -> str:
    if not allowance.shown:
        return "no planted error has been shown to those whose labels count"
    where = " (of all slices together)" if allowance.pooled else ""
    return f"{allowance.caught} of {allowance.shown} planted errors were noticed{where}"
