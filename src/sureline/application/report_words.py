"""What a certificate proves, or what is missing for one, in one sentence."""

from __future__ import annotations

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
