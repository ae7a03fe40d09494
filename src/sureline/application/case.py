"""One proposal on its way through the gate: everything known before it is measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sureline.application.current import Current
from sureline.core.gate.answered import answers_in
from sureline.core.gate.judging import Judging
from sureline.core.gate.routing import Circumstances
from sureline.core.gate.stakes import AtStake, settle_stakes
from sureline.core.gate.thresholds import Threshold, threshold_now
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal
from sureline.core.values.switch import Switch


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A proposal with an id, the policy and threshold that hold for it, and its attempt."""

    id: str
    proposal: Proposal
    current: Current
    at_stake: AtStake
    threshold: Threshold
    attempt: int
    opened_at: datetime
    secret: bytes
    sample_key: str

    @classmethod
    def opened(
        cls,
        proposal: Proposal,
        current: Current,
        *,
        case_id: str,
        sample_key: str,
        attempt: int,
        now: datetime,
        secret: bytes,
    ) -> Case:
        """Settle what is at stake and which threshold holds `now`."""
        at_stake = settle_stakes(proposal, current.policy, current.action_classes)
        return cls(
            id=case_id,
            proposal=proposal,
            current=current,
            at_stake=at_stake,
            threshold=_threshold(current, at_stake, now),
            attempt=attempt,
            opened_at=now,
            secret=secret,
            sample_key=sample_key,
        )

    def measured_by(self, signals: Iterable[Signal]) -> Case:
        """Return the case as the models that answered make it.

        Where one is not the model that was expected, the certificate and maps of the other say
        nothing about it, from this very decision on.
        """
        current = self.current.measured_by(answers_in(signals))
        if current is self.current:
            return self
        threshold = _threshold(current, self.at_stake, self.opened_at)
        return replace(self, current=current, threshold=threshold)

    @property
    def policy(self) -> SlicePolicy:
        """Return the slice's policy."""
        return self.current.policy

    def circumstances(self, judging: Judging, switches: tuple[Switch, ...]) -> Circumstances:
        """Return what routing needs besides the signals."""
        return Circumstances(
            threshold=self.threshold,
            at_stake=self.at_stake,
            judging=judging,
            switches=switches,
            force_human=self.proposal.force_human,
            attempt=self.attempt,
            secret=self.secret,
            decision_id=self.id,
        )


def _threshold(current: Current, at_stake: AtStake, now: datetime) -> Threshold:
    found = threshold_now(
        current.policy,
        current.certificate,
        measurement_hash=current.measurement_hash,
        stakes=at_stake.stakes,
        now=now,
    )
    if found.absent == "measurement_changed" and current.models_changed:
        return replace(found, absent="model_changed")
    return found
