"""Certify a slice's threshold from its labels, or say what is missing (G20)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sureline.core.statistics.binomial import check_level, lower_bound
from sureline.core.statistics.partition import METHOD, loosest_band
from sureline.core.statistics.shortfall import shortfall
from sureline.core.statistics.tally import Tally
from sureline.core.values.certificate import Certificate, ErrorRate, Uncertified


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a certificate must show; `target` and `delta` are strictly between 0 and 1.

    `family_size` is the number of slices that share `delta` where `error_rate` is family.
    """

    target: float = 0.95
    delta: float = 0.05
    error_rate: ErrorRate = ErrorRate.PER_SLICE
    family_size: int = 1

    def __post_init__(self) -> None:
        check_level(self.target, self.delta)

    @property
    def allowed(self) -> float:
        """Return the failure probability of one slice."""
        shared = self.error_rate is ErrorRate.FAMILY
        return self.delta / self.family_size if shared else self.delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a certificate is bound to; `labels_excluded` were left out of its labels."""

    workspace: str
    policy_hash: str
    measurement_hash: str
    issued_at: datetime
    labels_excluded: int = 0


def certify(
    tally: Tally, *, slice_key: str, demand: Demand, provenance: Provenance
) -> Certificate | Uncertified:
    """Return the certificate of the loosest provable threshold, or why there is none.

    The certificate's threshold is the lowest score of its band: `{score >= threshold}` is what
    was proven. Its `delta` is what this slice was given (`demand.allowed`).
    """
    delta = demand.allowed
    end = loosest_band(tally.labels, tally.correct, demand.target, delta)
    if end is None:
        missing = shortfall(tally, slice_key=slice_key, target=demand.target, delta=delta)
        return replace(missing, labels_excluded=provenance.labels_excluded)
    in_band, correct = int(tally.labels[end]), int(tally.correct[end])
    found = Certificate(
        id="",
        workspace=provenance.workspace,
        slice_key=slice_key,
        threshold=float(tally.threshold[end]),
        target=demand.target,
        delta=delta,
        error_rate=demand.error_rate,
        family_size=demand.family_size,
        n=tally.n,
        in_band=in_band,
        correct=correct,
        coverage=in_band / tally.n,
        lower_bound=float(lower_bound(correct, in_band, delta)),
        method=METHOD,
        data_hash=tally.data_hash,
        policy_hash=provenance.policy_hash,
        measurement_hash=provenance.measurement_hash,
        issued_at=provenance.issued_at,
        labels_excluded=provenance.labels_excluded,
    )
    return named(found)


def named(certificate: Certificate) -> Certificate:
    """Return a certificate with the id that its content gives it."""
    digest = hashlib.sha256(repr(replace(certificate, id="")).encode()).hexdigest()
    return replace(certificate, id=f"cert_{digest[:24]}")


def certify_slices(
    tallies: Mapping[str, Tally], *, demand: Demand, provenance: Provenance
) -> dict[str, Certificate | Uncertified]:
    """Certify each slice; with the family error rate all of them share `demand.delta`."""
    shared = replace(demand, family_size=max(1, len(tallies)))
    return {
        slice_key: certify(tally, slice_key=slice_key, demand=shared, provenance=provenance)
        for slice_key, tally in tallies.items()
    }
