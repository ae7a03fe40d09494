"""What a certificate proves, or what is missing for one, in one sentence."""

from __future__ import annotations

from sureline.application.label_precision import excluded_sentence
from sureline.core.statistics.noisy_labels import CorrectedPrecision
from sureline.core.values.certificate import Certificate, Scale, Uncertified
from sureline.core.values.threshold_text import threshold_text


def verdict_sentence(verdict: Certificate | Uncertified | None) -> str:
    """Say what a certificate proves, or what is missing."""
    if verdict is None:
        return "No labels, so no certificate."
    excluded = excluded_sentence(verdict.labels_excluded)
    if isinstance(verdict, Uncertified):
        reason = verdict.reason.replace("_", " ")
        return f"No certificate ({reason}). {verdict.message}. {excluded}".rstrip()
    kind = "calibrated scores" if verdict.scale is Scale.CALIBRATED else "scores"
    sentence = (
        f"At {kind} of {threshold_text(verdict.threshold)} or more, precision is at least "
        f"{100 * verdict.lower_bound:.1f} % with confidence {100 * (1 - verdict.delta):.0f} %: "
        f"{verdict.correct} of {verdict.in_band} labels there were right."
    )
    return " ".join(part for part in (sentence, allowance_sentence(verdict), excluded) if part)


def allowance_sentence(found: Certificate) -> str:
    """Say what a certificate allows for missed errors; nothing where it takes labels as given."""
    allowed = found.missed_errors
    if allowed is None:
        return ""
    where = " of all slices together" if allowed.pooled else ""
    return (
        f"That allows for missed errors: {allowed.caught} of {allowed.shown} planted errors{where} "
        f"were noticed, so at least {100 * allowed.noticed_at_least:.1f} % are, and labels had to "
        f"show {100 * allowed.labels_target:.2f} %."
    )


def reviewed_sentence(
    found: CorrectedPrecision, *, pooled: bool = False, plants: bool = True
) -> str:
    """Say what people's answers to drafts state, and what they amount to where errors are missed.

    Both figures are given: the first is what was said, the second what it is worth. `plants` says
    that errors can be planted among such drafts at all.
    """
    if found.stated is None:
        return "Nobody has answered a draft yet."
    right = round(found.stated * found.labels)
    stated = f"People approved {right} of {found.labels} drafts ({_percent(found.stated)})."
    seen = found.detection
    if seen.share is None and not plants:
        return f"{stated} Whether they notice errors is not known: nothing is planted in missions."
    if seen.share is None:
        return f"{stated} Whether they notice errors is not known yet: none was planted."
    low, high = found.interval
    where = " of all slices" if pooled else ""
    worth = (
        "that says nothing about precision"
        if found.corrected is None
        else f"allowing for what they miss, {_percent(found.corrected)} were right"
    )
    return (
        f"{stated} They noticed {seen.caught} of {seen.shown} planted errors{where}: {worth} "
        f"(95 % interval {_percent(low)} to {_percent(high)})."
    )


def left_out_sentence(excluded: int, off_scale: int) -> str | None:
    """Say which labels of a slice count in none of its figures, None where all count.

    `excluded` came from people who were shown not to look, `off_scale` are of outputs that had to
    go to a person whatever their score.
    """
    said = [
        f"{count} {what}"
        for count, what in (
            (off_scale, "of outputs that no score could have let act (such as `force_human`)"),
            (excluded, "of people who were shown not to look"),
        )
        if count
    ]
    return f"Labels left out of this: {' and '.join(said)}." if said else None


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
