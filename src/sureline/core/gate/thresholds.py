"""Find the threshold that holds for a slice now: certified, hypothetical or none (G20, G21)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sureline.core.values.assessment import Assessment
from sureline.core.values.certificate import Certificate, Scale
from sureline.core.values.policy import Hypothesis, SlicePolicy
from sureline.core.values.proposal import Stakes

VOID_REASONS = {
    "none": "the slice has no certificate yet",
    "measurement_changed": "what is measured has changed since the certificate was issued",
    "model_changed": "another model answers now than when the certificate was issued",
    "another_generator": "the output is of another generator than the policy names",
    "target_raised": "the policy now asks for more than the certificate promises",
    "issued_in_future": "the certificate is dated in the future",
    "expired": "the certificate is older than the policy allows",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Where automation begins and rejection ends; `auto` None means that nothing is automated.

    `certificate` is the id of the certificate behind `auto`, None for a hypothesis; `absent`
    says why there is no valid certificate (a key of VOID_REASONS), None if there is one. `scale`
    is what a certificate's `auto` is compared with; None stands for the calibrated value where
    there is one, else the composite.
    """

    auto: float | None
    reject: float
    certificate: str | None = None
    absent: str | None = None
    scale: Scale | None = None

    def compared(self, assessed: Assessment) -> float | None:
        """Return the number of an assessment that this threshold is compared with."""
        return assessed.value if self.scale is None else assessed.on(self.scale)

    @property
    def uncertified(self) -> bool:
        """Tell whether a mere hypothesis automates."""
        return self.auto is not None and self.certificate is None


def threshold_now(
    policy: SlicePolicy,
    certificate: Certificate | None,
    *,
    measurement_hash: str,
    stakes: Stakes,
    now: datetime,
) -> Threshold:
    """Return the certified threshold, else what the policy admits without one, else none.

    That is an admissible hypothesis, or the confidence that a kind of mission asks for.
    """
    absent = (
        "none"
        if certificate is None
        else certificate.void_reason(
            measurement_hash=measurement_hash,
            target=policy.target_precision,
            delta=policy.delta,
            now=now,
            max_age=timedelta(days=policy.certificate_max_age_days),
            missed_errors=policy.certify_missed_errors,
        )
    )
    hypothesis = policy.hypothesis
    admitted = hypothesis is not None and _is_admitted(hypothesis, stakes, _today(policy, now))
    reject = policy.reject_threshold
    if reject is None and hypothesis is not None and admitted:
        reject = hypothesis.reject
    reject = policy.abstain_floor if reject is None else reject
    if certificate is not None and absent is None:
        return Threshold(
            auto=certificate.threshold,
            reject=reject,
            certificate=certificate.id,
            scale=certificate.scale,
        )
    if policy.uncertified_from is not None:
        begins = policy.uncertified_from
        return Threshold(auto=begins, reject=reject, absent=absent, scale=Scale.COMPOSITE)
    auto = hypothesis.auto if hypothesis is not None and admitted else None
    return Threshold(auto=auto, reject=reject, absent=absent)


def _today(policy: SlicePolicy, now: datetime) -> date | None:
    """Return the day where the slice's rules have theirs; None where there is no such zone."""
    try:
        return now.astimezone(ZoneInfo(policy.checks.reading.timezone)).date()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _is_admitted(hypothesis: Hypothesis, stakes: Stakes, today: date | None) -> bool:
    """Tell whether the hypothesis may automate: stated, reversible, and within its days."""
    if not hypothesis.allow_uncertified or hypothesis.starts is None or stakes.is_high:
        return False
    if today is None:
        return False
    return hypothesis.starts <= today < hypothesis.starts + timedelta(days=hypothesis.days)
