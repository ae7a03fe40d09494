"""Turn a routed case into a decision, its record, and the answer to the caller."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sureline.application.case import Case
from sureline.application.encode import decode, encode_answer, encode_body, splice
from sureline.application.identify import Identity
from sureline.application.measure import Measurements
from sureline.application.ports.ledger import DecisionRecord, StoredDecision
from sureline.core.gate.routing import Routing
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.review.line import line_of
from sureline.core.review.opening import opened_review
from sureline.core.statistics.bins import score_bin
from sureline.core.values.assessment import Assessment
from sureline.core.values.decision import Decision, Route
from sureline.core.values.review import Review, ReviewRules
from sureline.core.values.review_line import ReviewLine
from sureline.core.values.stratum import Stratum
from sureline.errors import Conflict


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded decision: `response` is its JSON as stored; `created` False for a replay."""

    response: bytes
    created: bool
    made: Decision | None = None

    @property
    def decision(self) -> Decision:
        """Return the decision as a value."""
        return decode(self.response) if self.made is None else self.made

    @classmethod
    def of(cls, decision: Decision, record: DecisionRecord) -> Answer:
        """Answer with a decision that was just recorded."""
        return cls(splice(record.body, record.answer), created=True, made=decision)


def replay(stored: StoredDecision, identity: Identity) -> Answer:
    """Answer with what is stored. Raises Conflict if the content was another (G30)."""
    if stored.content_digest != identity.content_digest:
        raise Conflict(
            f"the id {stored.id!r} was used before for other content; "
            "use a new id, or send the same content to get the stored decision"
        )
    return Answer(splice(stored.body, stored.answer), created=False)


def assemble(
    case: Case,
    measured: Measurements,
    assessed: Assessment,
    routing: Routing,
    *,
    elapsed_ms: float,
) -> Decision:
    """Gather everything that led to the route (G31)."""
    return Decision(
        id=case.id,
        workspace=case.proposal.workspace,
        slice_key=case.policy.key,
        route=routing.route,
        reasons=routing.reasons,
        confidence=case.threshold.compared(assessed),
        composite=assessed.composite,
        calibrated=assessed.calibrated,
        extrapolated=assessed.extrapolated,
        threshold=case.threshold.auto,
        certificate=case.threshold.certificate,
        uncertified=case.threshold.uncertified,
        signals=assessed.signals,
        audit=routing.audit,
        mode=case.policy.mode,
        would_route=routing.would_route,
        policy=case.current.policy_hash,
        measurement=case.current.measurement_hash,
        stakes=case.at_stake.stakes,
        action_class=case.at_stake.action_class,
        attempt=case.attempt,
        sample_key=case.sample_key,
        attempts_left=routing.attempts_left,
        review_id=None if routing.route in _NO_REVIEW else case.id,
        variant=case.proposal.variant,
        created_at=case.opened_at,
        elapsed_ms=elapsed_ms,
        output=measured.output,
        feedback=measured.findings,
        redacted=case.redacted,
    )


def _rules(case: Case) -> ReviewRules:
    """Return how the item is reviewed: by as many as the slice or the kind of action asks for."""
    rules = case.policy.review
    return replace(
        rules,
        approvals=max(rules.approvals, case.at_stake.approvals),
        answer_first=is_sampled(
            case.secret, Purpose.ANSWER_FIRST, case.id, case.policy.attention.answer_first
        ),
    )


_NO_REVIEW = frozenset({Route.AUTO_APPROVE, Route.AUTO_REJECT})


def _line(review: Review, task: str, decision: Decision) -> ReviewLine:
    """Return what the list says of the item that a decision opens."""
    said = (found for signal in decision.signals for found in signal.findings)
    return line_of(
        review,
        task,
        (reason.code for reason in decision.reasons),
        findings=(*decision.feedback, *said),
        confidence=decision.confidence,
    )


def record_of(
    decision: Decision,
    case: Case,
    identity: Identity,
    measured: Measurements,
    routing: Routing,
    stratum: Stratum,
) -> DecisionRecord:
    """Return the row that is written: the response bytes with what is searched by."""
    composite = decision.composite
    review = opened_review(
        decision, _rules(case), submitted_by=case.proposal.submitted_by, now=case.opened_at
    )
    return DecisionRecord(
        id=decision.id,
        workspace=decision.workspace,
        slice_key=decision.slice_key,
        route=decision.route,
        would_route=decision.would_route,
        mode=decision.mode,
        score=decision.confidence,
        score_bin=score_bin(composite) if composite is not None and routing.eligible else None,
        audit=decision.audit,
        failed=routing.failed,
        submitted_by=case.proposal.submitted_by,
        propensity=routing.propensity,
        attempt=decision.attempt,
        stratum=stratum,
        policy_hash=decision.policy,
        measurement_hash=decision.measurement,
        batch_id=case.proposal.batch_id,
        content_digest=identity.content_digest,
        task_digest=identity.task_digest,
        created_at=decision.created_at,
        body=encode_body(decision),
        answer=encode_answer(decision),
        request=identity.request,
        vector=measured.vector,
        model_id=measured.model_id,
        review=review,
        review_line=None if review is None else _line(review, case.proposal.task, decision),
        retry_of=case.proposal.retry_of,
        subject=identity.subject,
    )
