"""One proposal on its way through the gate: everything known before it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sureline.application.current import Current
from sureline.core.gate.answered import ModelsSeen, names_another_generator
from sureline.core.gate.canaries import without_barred
from sureline.core.gate.claims import as_claims
from sureline.core.gate.judging import Judging, should_judge
from sureline.core.gate.routing import Circumstances
from sureline.core.gate.stakes import AtStake, settle_stakes
from sureline.core.gate.thresholds import Threshold
from sureline.core.redaction import hidden
from sureline.core.values.assessment import Assessment
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
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The ids of the models that have answered so far, by the names that were asked."""
    checked: Proposal | None = None
    """What came in, for the checks alone, where `proposal` is a redacted form of it."""
    redacted: Mapping[str, int] = field(default_factory=dict)

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
        if names_another_generator(proposal, current.policy):
            current = current.measured_by(current.seen, {}, foreign=True)
        return cls(
            id=case_id,
            proposal=proposal,
            current=current,
            at_stake=at_stake,
            threshold=current.threshold(at_stake.stakes, now),
            attempt=attempt,
            opened_at=now,
            secret=secret,
            sample_key=sample_key,
        )

    @property
    def for_models(self) -> Proposal:
        """Return the proposal as models are shown it."""
        return hidden(self.proposal, self.policy.redact)

    def measured_by(self, seen: ModelsSeen, answers: Mapping[str, tuple[str, ...]]) -> Case:
        """Return the case as the models that answered make it.

        Where one is not the model that was expected, the certificate and maps of the other say
        nothing about it, from this very decision on.
        """
        foreign = names_another_generator(self.proposal, self.policy)
        current = self.current.measured_by(seen, answers, foreign=foreign)
        if current is self.current:
            return replace(self, answers=answers)
        threshold = current.threshold(self.at_stake.stakes, self.opened_at)
        return replace(self, current=current, threshold=threshold, answers=answers)

    @property
    def barred(self) -> Mapping[str, str]:
        """Return the roles whose models have not passed their canaries: they are not asked."""
        return self.current.barred(self.answers)

    def counted(self, signals: tuple[Signal, ...]) -> tuple[Signal, ...]:
        """Return the signals as they count.

        None of a model that has not passed its canaries (G3), and no opinion in favour of what
        only an agent vouches for (G34).
        """
        counted = without_barred(signals, barred) if (barred := self.barred) else signals
        return counted if self.proposal.trusted else as_claims(counted)

    @property
    def policy(self) -> SlicePolicy:
        """Return the slice's policy."""
        return self.current.policy

    def should_judge(self, assessed: Assessment) -> Judging:
        """Tell whether a judge sees the output, and if so whether it must (G10)."""
        return should_judge(
            assessed,
            self.policy,
            stakes=self.at_stake.stakes,
            threshold=self.threshold,
            secret=self.secret,
            sample_key=self.sample_key,
            attempt=self.attempt,
        )

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
