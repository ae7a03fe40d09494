"""What an evaluation found: a check's word, a judge's, or that there is none (M3, M4, M6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sureline.core.values.finding import Finding
from sureline.core.values.model_card import ModelCard


class EvaluationSource(StrEnum):
    """Who was asked."""

    CHECK = "check"
    """A program; its confidence is 1 either way."""
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One try to find out whether the objective is achieved.

    `achieved` and `confidence` (in [0, 1], that `achieved` is right) are None exactly where the
    try failed; `fault` then says why, as a code, and `detail` with what: the `error` (the name of a
    type, no words) or the `exit` code of a check. `completeness` in [0, 1] is the share of the
    evidence that was looked at. `findings` quote and are erasable.
    """

    source: EvaluationSource
    achieved: bool | None = None
    confidence: float | None = None
    fault: str | None = None
    detail: Mapping[str, str | int] = field(default_factory=dict)
    reasoning: str | None = None
    progress: str | None = None
    completeness: float = 1.0
    card: ModelCard | None = None
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        failed = self.fault is not None
        if (self.achieved is None) is not failed or (self.confidence is None) is not failed:
            raise ValueError("an evaluation has either a verdict with its confidence, or a fault")
