"""Decide which outputs a judge sees, and read its verdict (G9-G11)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.gate.thresholds import Threshold
from sureline.core.opinions.panel import panel_detail, verdict_words
from sureline.core.values.assessment import Assessment
from sureline.core.values.policy import DEFAULT_THRESHOLD, SlicePolicy
from sureline.core.values.proposal import Stakes
from sureline.core.values.signal import Signal, SignalKind, unit_interval_fault
from sureline.core.values.verdict import Verdict

REFUTED = "refuted"


class Judging(StrEnum):
    """Whether an output is judged, and if so whether it must be."""

    NONE = "none"
    SAMPLED = "sampled"
    MANDATORY = "mandatory"


def should_judge(
    assessed: Assessment,
    policy: SlicePolicy,
    *,
    stakes: Stakes,
    threshold: Threshold,
    secret: bytes,
    sample_key: str,
) -> Judging:
    """Choose by stakes, then nearness to the threshold, then a keyed sample.

    Nearness is taken to the slice's certified or hypothetical threshold, else to .95 (G10). An
    output with a fatal fault is not judged: nothing a judge says could help it.
    """
    judge = policy.judge
    if judge is None or assessed.fatal or assessed.value is None:
        return Judging.NONE
    if stakes.is_high and is_sampled(secret, Purpose.JUDGE, sample_key, judge.high_stakes):
        return Judging.MANDATORY
    middle = DEFAULT_THRESHOLD if threshold.auto is None else threshold.auto
    value = threshold.compared(assessed)
    # Rounded, so that .90 counts as within .05 of .95 although .95 - .90 > .05 in binary.
    if value is not None and round(abs(value - middle), 9) <= judge.borderline:
        return Judging.MANDATORY
    if is_sampled(secret, Purpose.JUDGE, sample_key, judge.otherwise):
        return Judging.SAMPLED
    return Judging.NONE


def judge_signal(verdict: object, policy: SlicePolicy) -> Signal:
    """Turn a verdict into the signal `judge`.

    Agreement is 1.0. Disagreement at or above `refute_at` is measured 0.0 with the code
    `refuted` in its detail; a weaker one is not applicable (inconclusive). A verdict whose
    confidence is no number in [0, 1], or whose agreement is no true boolean, has failed, and so
    has whatever a judge gave that is no verdict.
    """
    kind = SignalKind.JUDGE
    if not isinstance(verdict, Verdict):
        return Signal.failed("judge", kind, "not_a_verdict")
    fault = unit_interval_fault(verdict.confidence)
    if fault or not isinstance(verdict.agrees, bool):
        return Signal.failed("judge", kind, fault or "agrees_not_boolean")
    detail, findings = _detail(verdict), verdict_words(verdict)
    if verdict.agrees:
        return Signal.measured("judge", kind, 1.0, detail=detail, findings=findings)
    refute_at = policy.judge.refute_at if policy.judge else 0.0
    if verdict.confidence >= refute_at:
        detail["verdict"] = REFUTED
        return Signal.measured("judge", kind, 0.0, detail=detail, findings=findings)
    return Signal.not_applicable("judge", kind, "inconclusive", detail=detail, findings=findings)


def _detail(verdict: Verdict) -> dict[str, Any]:
    """Return the codes and figures of a verdict, without the judge's words."""
    detail: dict[str, Any] = {"confidence": verdict.confidence}
    detail |= {"model": verdict.model} if isinstance(verdict.model, str) else {}
    detail |= panel_detail(verdict.votes) if verdict.votes else {}
    detail |= {} if verdict.card is None else verdict.card.detail
    if not verdict.agrees:
        detail["failure_mode"] = verdict.code
    return detail


def is_refuted(assessed: Assessment) -> bool:
    """Tell whether the judge disagreed firmly."""
    signal = assessed.signal("judge")
    return signal is not None and signal.detail.get("verdict") == REFUTED
