"""Hold an evaluation against the threshold in force: the certified one, or the kind's (M3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.current import Current
from sureline.application.models_seen import ModelWatch
from sureline.core.gate.answered import answers_in
from sureline.core.gate.composition import assess
from sureline.core.gate.thresholds import Threshold
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.assessment import Assessment
from sureline.core.values.certificate import Scale
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.signal import Signal, SignalKind

SIGNAL = "mission"
"""The only signal of such a decision, and its weight's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """An evaluation with the threshold that held for it, and whether it reaches that."""

    evaluation: Evaluation
    current: Current
    assessed: Assessment
    threshold: Threshold
    sure: bool


def answered(current: Current, evaluation: Evaluation, models: ModelWatch) -> Current:
    """Return what holds now that this judge answered.

    Where it is not the model that was expected, the certificate of the other says nothing of it.
    """
    details = [signal_of(evaluation).detail]
    if not current.names:
        return current
    known = models.known(current.seen, answers_in(details, current.names, kept=False))
    return current.measured_by(known, answers_in(details, current.names))


async def note_judge(current: Current, evaluation: Evaluation, models: ModelWatch) -> None:
    """Write down which model judged, where it is another than was known before."""
    details = [signal_of(evaluation).detail]
    now = answers_in(details, current.names, kept=False)
    if now:
        await models.observe(current.seen, now)


def weigh(evaluation: Evaluation, current: Current, kind: MissionKind, now: datetime) -> Weighed:
    """Compare an evaluation with the certified threshold, or with the kind's where none is valid.

    A certificate says from where on `achieved` may be believed; a judge that says `not achieved`
    is held to the kind's own confidence in any case.
    """
    assessed = assess((signal_of(evaluation),), current.policy, maps=current.maps, unreadable=False)
    stakes = current.policy.stakes
    threshold = current.threshold(stakes, now)
    certified = threshold.certificate is not None
    if not certified:
        threshold = Threshold(
            auto=kind.confidence,
            reject=threshold.reject,
            absent=threshold.absent,
            scale=Scale.COMPOSITE,  # the judge's own word, which the kind's confidence speaks of
        )
    confidence = evaluation.confidence
    if evaluation.achieved is True and certified and evaluation.source is EvaluationSource.JUDGE:
        compared = threshold.compared(assessed)
        assert threshold.auto is not None
        sure = compared is not None and compared >= threshold.auto
    else:
        sure = confidence is not None and confidence >= kind.confidence
    return Weighed(
        evaluation=evaluation, current=current, assessed=assessed, threshold=threshold, sure=sure
    )


def signal_of(evaluation: Evaluation) -> Signal:
    """Return the evaluation as a signal: how probable it is that the objective is achieved."""
    judged = evaluation.source is EvaluationSource.JUDGE
    kind = SignalKind.JUDGE if judged else SignalKind.OBJECTIVE
    detail: dict[str, Any] = {"source": evaluation.source.value}
    if evaluation.card is not None:
        detail |= evaluation.card.detail
    if judged:
        detail["completeness"] = round(evaluation.completeness, 4)
    if evaluation.fault is not None:
        return Signal.failed(
            SIGNAL, kind, evaluation.fault, detail=detail, findings=evaluation.findings
        )
    assert evaluation.confidence is not None
    value = evaluation.confidence if evaluation.achieved else 1.0 - evaluation.confidence
    detail["achieved"] = evaluation.achieved
    return Signal.measured(SIGNAL, kind, value, detail=detail, findings=evaluation.findings)
