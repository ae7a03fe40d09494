"""Precision as labels state it, and what it amounts to where errors are missed (R7)."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.learning.slice_facts import SliceFacts
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.statistics.noisy_labels import CorrectedPrecision, corrected_precision
from sureline.core.values.counted import counted
from sureline.core.values.threshold_text import threshold_text


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPrecision:
    """Precision of what acts alone, or could: as labelled, and allowing for missed errors.

    It is that of scores of at least `threshold`, None: of all outputs that could be automated.
    `found` has both figures with their intervals and the planted errors that the second rests on;
    `pooled` says that they are those of all slices. `excluded` labels were given by people who
    were shown not to look, and are part of neither.
    """

    threshold: float | None
    found: CorrectedPrecision
    pooled: bool
    excluded: int

    @classmethod
    def of(cls, facts: SliceFacts, measured: MeasuredDetection, excluded: int) -> LabelPrecision:
        """Take the band that acts or could act alone, else everything that is labelled."""
        band = facts.held or facts.proposed
        share = facts.right if band is None else facts.band
        return cls(
            threshold=None if band is None else band.threshold,
            found=corrected_precision(share.part, share.whole, measured.used),
            pooled=measured.pooled,
            excluded=excluded,
        )

    @property
    def where(self) -> str:
        """Say of which outputs it is the precision."""
        if self.threshold is None:
            return "all outputs that could be automated"
        return f"scores of {threshold_text(self.threshold)} or more"

    @property
    def basis(self) -> str:
        """Say which planted errors the second figure rests on."""
        seen = self.found.detection
        if not seen.shown:
            return "no planted error has been shown yet to those whose labels count"
        where = " of all slices together" if self.pooled else ""
        return f"{seen.caught} of {counted(seen.shown, 'planted error')}{where} noticed"

    @property
    def sentence(self) -> str:
        """Say both figures, and what they rest on."""
        found = self.found
        if found.stated is None:
            return "Precision is not known: there are no labels."
        stated = (
            f"Precision of {self.where}, as labelled: {_percent(found.stated)} "
            f"({_interval(found.stated_interval)}, {counted(found.labels, 'label')})."
        )
        if found.corrected is None:
            return f"{stated} Allowing for missed errors: not known ({self.basis})."
        return (
            f"{stated} Allowing for missed errors: {_percent(found.corrected)} "
            f"({_interval(found.interval)}, {self.basis})."
        )


def excluded_sentence(labels: int) -> str:
    """Say how many labels do not count because of who gave them; nothing for none."""
    if not labels:
        return ""
    verb = "does" if labels == 1 else "do"
    return f"{counted(labels, 'label')} of people who were shown not to look {verb} not count."


def _interval(ends: tuple[float, float]) -> str:
    return f"95 % interval {_percent(ends[0])} to {_percent(ends[1])}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
