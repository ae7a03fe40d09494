"""How a decision's label comes about: what calibration must keep apart (G23)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sureline.core.values.outcome import OutcomeSource
from sureline.errors import InvalidInput


class Fold(StrEnum):
    """Which statistic a label may be used for, drawn by keyed hash when deciding."""

    FIT = "fit"
    """For fitting weights and maps."""
    HOLD = "hold"
    """For certifying thresholds, and for judging what was fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """What was known of a decision's label before there was one.

    `propensity` in [0, 1] is the chance with which a person was to see the output.
    `representative` says that it belongs to a sample in which every eligible output of its time
    had the same chance, whatever its score. `judged` says that a judge's verdict is part of the
    composite.
    """

    attempt: int
    propensity: float
    representative: bool
    judged: bool
    fold: Fold

    def __str__(self) -> str:
        sample = "representative" if self.representative else "selected"
        judged = "judged" if self.judged else "unjudged"
        return f"{self.attempt}/{self.propensity!r}/{sample}/{judged}/{self.fold}"

    @classmethod
    def parse(cls, text: str) -> Stratum:
        """Read what `str` wrote. Raises InvalidInput."""
        try:
            attempt, propensity, sample, judged, fold = text.split("/")
            return cls(
                attempt=int(attempt),
                propensity=float(propensity),
                representative=sample == "representative",
                judged=judged == "judged",
                fold=Fold(fold),
            )
        except ValueError as error:
            raise InvalidInput(f"expected a stratum, got {text!r}", field="stratum") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStratum:
    """A decision's stratum with who gave its label, and whether in sight of the proposal."""

    source: OutcomeSource
    anchored: bool
    decision: Stratum

    def __str__(self) -> str:
        return f"{self.source}/{'anchored' if self.anchored else 'blind'}/{self.decision}"

    @classmethod
    def parse(cls, text: str) -> LabelStratum:
        """Read what `str` wrote. Raises InvalidInput."""
        try:
            source, sight, decision = text.split("/", 2)
            return cls(
                source=OutcomeSource(source),
                anchored=sight == "anchored",
                decision=Stratum.parse(decision),
            )
        except ValueError as error:
            raise InvalidInput(f"expected a stratum, got {text!r}", field="stratum") from error
