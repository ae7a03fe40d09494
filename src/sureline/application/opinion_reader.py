"""Read what labels say of a slice's second opinions: one streaming, whatever its length."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sureline.application.ports.ledger import Ledger, PastDecision
from sureline.core.learning.opinion_facts import (
    MOST_SIGNALS,
    OpinionEvidence,
    OpinionFacts,
    OpinionVerdict,
)
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.said import said_in


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionReader:
    """Reads the opinions and labels of one workspace's slices."""

    ledger: Ledger
    workspace: str

    async def read(
        self, policy: SlicePolicy, measurement_hash: str, *, since: datetime
    ) -> tuple[OpinionFacts, ...]:
        """Return the facts of each signal of the slice, what misleads first.

        Every label counts as one over the chance with which its output was to get one: where a
        slice automates, people see all that a judge refuted but few that it agreed with.
        """
        found: dict[str, OpinionEvidence] = {}
        async for past in self.ledger.past_decisions(self.workspace, policy.key, since):
            if past.measurement_hash != measurement_hash or not _counts(past):
                continue
            for said in said_in(past.body):
                evidence = found.get(said.signal)
                if evidence is None:
                    if len(found) >= MOST_SIGNALS:
                        continue
                    evidence = found[said.signal] = OpinionEvidence(said.signal)
                evidence.add(said, correct=bool(past.correct), weight=1 / past.propensity)
        total = sum(policy.weights.values())
        facts = [one.facts(policy.weights.get(one.signal, 0.0) / total) for one in found.values()]
        urgency = list(OpinionVerdict)
        return tuple(sorted(facts, key=lambda one: (urgency.index(one.verdict), one.signal)))


def _counts(past: PastDecision) -> bool:
    """Tell whether a label came by the known chance of its decision, and by no choice of rows."""
    if past.correct is None or past.propensity <= 0.0:
        return False
    chosen = past.label_source is OutcomeSource.IMPORT and not past.stratum.representative
    return not chosen and (past.propensity >= 1.0 or past.audit)
