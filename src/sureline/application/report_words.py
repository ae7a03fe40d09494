"""What a certificate proves, or what is missing for one, in one sentence."""

from __future__ import annotations

from sureline.core.statistics.noisy_labels import CorrectedPrecision
from sureline.core.values.certificate import Certificate, Scale, Uncertified
from sureline.core.values.threshold_text import threshold_text


def verdict_sentence(verdict: Certificate | Uncertified | None) -> str:
    """Say what a certificate proves, or what is missing."""
    if verdict is None:
        return "No labels, so no certificate."
    if isinstance(verdict, Uncertified):
        return f"No certificate ({verdict.reason.replace('_', ' ')}). {verdict.message}."
    kind = "calibrated scores" if verdict.scale is Scale.CALIBRATED else "scores"
    return (
        f"At {kind} of {threshold_text(verdict.threshold)} or more, precision is at least "
        f"{100 * verdict.lower_bound:.1f} % with confidence {100 * (1 - verdict.delta):.0f} %: "
        f"{verdict.correct} of {verdict.in_band} labels there were right."
    )


def reviewed_sentence(found: CorrectedPrecision) -> str:
    """Say what people's answers to drafts state, and what they amount to where errors are missed.

    Both figures are given: the first is what was said, the second what it is worth.
    """
    if found.stated is None:
        return "Nobody has answered a draft yet."
    right = round(found.stated * found.labels)
    stated = f"People approved {right} of {found.labels} drafts ({_percent(found.stated)})."
    seen = found.detection
    if seen.share is None:
        return f"{stated} Whether they notice errors is not known yet: none was planted."
    low, high = found.interval
    worth = (
        "that says nothing about precision"
        if found.corrected is None
        else f"allowing for what they miss, {_percent(found.corrected)} were right"
    )
    return (
        f"{stated} They noticed {seen.caught} of {seen.shown} planted errors: {worth} "
        f"(95 % interval {_percent(low)} to {_percent(high)})."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
