"""Record an evaluation as a decision about one claim: that the objective is achieved (M3)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from datetime import datetime

from sureline.application.encode import encode_answer, encode_body
from sureline.application.identify import identify
from sureline.application.mission.weighing import Weighed
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.canonical import canonical_json
from sureline.core.gate.judging import Judging
from sureline.core.gate.routing import Circumstances, Routing, audit_rate
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.gate.stakes import settle_stakes
from sureline.core.gate.strata import stratum_of
from sureline.core.mission.bundle import bundle
from sureline.core.mission.concluding import Conclusion, Verdict
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.review.line import line_of
from sureline.core.review.opening import opened_review
from sureline.core.statistics.bins import score_bin
from sureline.core.values.decision import Decision, Reason, Route
from sureline.core.values.finding import Finding
from sureline.core.values.mission import Cause, Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.proposal import Generator, Proposal, SourceText
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine
from sureline.core.values.switch import Switch

_REASONS = {
    Cause.ACHIEVED: "the objective is achieved",
    Cause.STARTED: "the objective is not achieved yet",
    Cause.UNSURE: "the judge's confidence is below the threshold",
    Cause.TO_CONFIRM: "achieved; completing this kind of mission is a person's to do",
    Cause.LITTLE_EVIDENCE: "achieved, and the judge saw too little of the evidence",
    Cause.SWITCH: "achieved, while a switch gives this kind of mission to people",
    Cause.JUDGE_UNAVAILABLE: "the judge gave no verdict that can be read",
    Cause.CHECK_FAILED: "the success check gave no answer",
    Cause.DEADLINE: "the objective is not achieved, and its time is over",
    Cause.CEILING: "the objective is not achieved, and there are no invocations left",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Makes the rows of evaluations; `secret` keys digests and samples."""

    secret: bytes

    def evaluation_id(self, seen: Mission, *, failed_at: int | None = None) -> str:
        """Return the id of the one evaluation of an invocation, or of a try that failed.

        Nobody without the secret can take it before, and no two missions share one. `failed_at` is
        the mission's version when a try failed.
        """
        parts = (seen.workspace, seen.id, seen.revision, seen.invocations, failed_at or 0)
        framed = canonical_json([str(one) for one in parts])
        return f"evl_{hmac.digest(self.secret, b'evaluation' + framed, 'sha256')[:16].hex()}"

    def record(
        self,
        mission: Mission,
        kind: MissionKind,
        weighed: Weighed,
        conclusion: Conclusion,
        *,
        decision_id: str,
        switches: tuple[Switch, ...],
        started: datetime,
        now: datetime,
    ) -> DecisionRecord:
        """Return the row of a decision; a completed mission may be drawn for an audit."""
        proposal = _proposal(mission, kind, weighed.evaluation, decision_id)
        around = self._around(proposal, weighed, decision_id, switches)
        routing = self._routing(weighed, conclusion, around, kind)
        seen = _seen_by(around, kind)
        decision = _decision(
            mission, proposal, weighed, routing, around, elapsed=_ms(started, now), now=now
        )
        return self._row(decision, proposal, weighed, routing, seen)

    def _around(
        self,
        proposal: Proposal,
        weighed: Weighed,
        decision_id: str,
        switches: tuple[Switch, ...],
    ) -> Circumstances:
        current = weighed.current
        return Circumstances(
            threshold=weighed.threshold,
            at_stake=settle_stakes(proposal, current.policy, current.action_classes),
            judging=Judging.NONE,
            switches=switches,
            force_human=False,
            attempt=1,
            secret=self.secret,
            decision_id=decision_id,
        )

    def _routing(
        self,
        weighed: Weighed,
        conclusion: Conclusion,
        around: Circumstances,
        kind: MissionKind,
    ) -> Routing:
        chosen, policy = _route(conclusion), weighed.current.policy
        rate = audit_rate(policy, around.threshold)
        automatic = chosen is Route.AUTO_APPROVE
        drawn = automatic and is_sampled(self.secret, Purpose.AUDIT, around.decision_id, rate)
        propensity = 1.0 if chosen not in _UNSEEN else (rate if automatic else 0.0)
        return Routing(
            route=chosen,
            reasons=(_reason(conclusion.cause),),
            would_route=None,
            audit=drawn,
            propensity=propensity,
            attempts_left=0,
            eligible=_is_eligible(weighed.evaluation, kind),
            failed=False,
        )

    def _row(
        self,
        decision: Decision,
        proposal: Proposal,
        weighed: Weighed,
        routing: Routing,
        around: Circumstances,
    ) -> DecisionRecord:
        policy, composite = weighed.current.policy, decision.composite
        identity = identify(proposal, self.secret)
        review = opened_review(
            decision, policy.review, submitted_by=proposal.submitted_by, now=decision.created_at
        )
        return DecisionRecord(
            id=decision.id,
            workspace=decision.workspace,
            slice_key=decision.slice_key,
            route=decision.route,
            would_route=None,
            mode=decision.mode,
            score=decision.confidence,
            score_bin=score_bin(composite) if composite is not None and routing.eligible else None,
            audit=decision.audit,
            failed=False,
            submitted_by=proposal.submitted_by,
            propensity=routing.propensity,
            attempt=1,
            stratum=stratum_of(routing, weighed.assessed, policy, around),
            policy_hash=decision.policy,
            measurement_hash=decision.measurement,
            batch_id=None,
            content_digest=identity.content_digest,
            task_digest=identity.task_digest,
            created_at=decision.created_at,
            body=encode_body(decision),
            answer=encode_answer(decision),
            request=identity.request,
            review=review,
            review_line=None if review is None else _line(review, proposal.task, decision),
            subject=identity.subject,
        )


def _line(review: Review, task: str, decision: Decision) -> ReviewLine:
    """Return what the list says of the audit that a completed mission opens."""
    return line_of(
        review,
        task,
        (reason.code for reason in decision.reasons),
        findings=decision.feedback,
        confidence=decision.confidence,
    )


_UNSEEN = frozenset({Route.AUTO_APPROVE, Route.AUTO_REJECT})


def _is_eligible(evaluation: Evaluation, kind: MissionKind) -> bool:
    """Tell whether only the threshold stood between this evaluation and completion."""
    return (
        evaluation.source is EvaluationSource.JUDGE
        and evaluation.achieved is True
        and evaluation.completeness >= kind.least_evidence
    )


def _seen_by(around: Circumstances, kind: MissionKind) -> Circumstances:
    """Return what decides whether labels are thinned: where people confirm all, none need be."""
    if kind.auto_complete:
        return around
    return replace(around, threshold=replace(around.threshold, auto=None))


def _route(conclusion: Conclusion) -> Route:
    if conclusion.verdict is Verdict.COMPLETE:
        return Route.AUTO_APPROVE
    if conclusion.verdict is Verdict.ASK:
        unsure = conclusion.cause is Cause.UNSURE
        return Route.HUMAN_REVIEW if unsure else Route.HUMAN_REQUIRED
    return Route.AUTO_REJECT


def _reason(cause: Cause) -> Reason:
    return Reason(code=f"mission_{cause.value}", message=_REASONS[cause])


def _proposal(
    mission: Mission, kind: MissionKind, evaluation: Evaluation, decision_id: str
) -> Proposal:
    """Return what was decided on, as a page or an audit shows it; erasable with the payload."""
    shown = bundle(mission, kind).shown.parts
    model = mission.evidence.model or kind.agent_model
    return Proposal(
        slice_key=kind.slice_key,
        task="\n".join((mission.objective, *(f"- {one}" for one in mission.criteria))),
        output={
            "achieved": evaluation.achieved,
            "confidence": evaluation.confidence,
            "reasoning": evaluation.reasoning,
            "progress": evaluation.progress,
        },
        id=decision_id,
        workspace=mission.workspace,
        source=tuple(SourceText(ref=ref, text=text, trusted=False) for ref, text in shown),
        generator=None if model is None else Generator(model=model),
        submitted_by=mission.submitted_by,
        subject=mission.subject,
        metadata={
            "mission": mission.id,
            "revision": mission.revision,
            "invocation": mission.invocations,
        },
    )


def _decision(
    mission: Mission,
    proposal: Proposal,
    weighed: Weighed,
    routing: Routing,
    around: Circumstances,
    *,
    elapsed: float,
    now: datetime,
) -> Decision:
    current, assessed, evaluation = weighed.current, weighed.assessed, weighed.evaluation
    said = evaluation.reasoning
    feedback = () if said is None else (Finding(code="reasoning", message=said),)
    return Decision(
        id=around.decision_id,
        workspace=mission.workspace,
        slice_key=proposal.slice_key,
        route=routing.route,
        reasons=routing.reasons,
        confidence=weighed.threshold.compared(assessed),
        composite=assessed.composite,
        calibrated=assessed.calibrated,
        extrapolated=assessed.extrapolated,
        threshold=weighed.threshold.auto,
        certificate=weighed.threshold.certificate,
        uncertified=weighed.threshold.uncertified,
        signals=assessed.signals,
        audit=routing.audit,
        mode=current.policy.mode,
        would_route=None,
        policy=current.policy_hash,
        measurement=current.measurement_hash,
        stakes=around.at_stake.stakes,
        action_class=None,
        attempt=1,
        sample_key=around.decision_id,
        attempts_left=0,
        review_id=None,
        variant=None,
        created_at=now,
        elapsed_ms=elapsed,
        output=proposal.output,
        feedback=feedback,
    )


def _ms(started: datetime, now: datetime) -> float:
    return max(0.0, round((now - started).total_seconds() * 1000, 3))
