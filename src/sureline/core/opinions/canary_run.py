"""What a run of the canaries through one evaluator showed (G3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean

from sureline.core.opinions.canary import FailureMode

LINE = 0.80
"""A bad canary scored here or above passed for good; a good one below it did not."""
MOST_UNKNOWN = 0.20
"""A larger share of the bad or of the good ones that was not measured leaves a run incomplete."""


class CanaryOutcome(StrEnum):
    """How a run ended."""

    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    """Too much could not be measured to say either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryScore:
    """What an evaluator gave one canary: a `score` in [0, 1], or None and the `reason` why not.

    `mode` is None for a good one. A judge's agreement is 1.0, anything else that it says 0.0.
    """

    id: str
    mode: FailureMode | None
    score: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """A second model in its role (`judge` or `self_evaluation`), and what its opinion depends on.

    `asked` is the policy's name for it, `answered` the id that the provider gave, None while
    nothing is known of it. `prompt`, `deductions` and `guidance` are hashes.
    """

    role: str
    asked: str
    answered: str | None
    prompt: str
    deductions: str | None = None
    guidance: str | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRun:
    """One run: who was asked (`identity` is its digest), from which `seed`, and every score."""

    id: str
    evaluator: Evaluator
    identity: str
    seed: str
    line: float
    at: datetime
    scores: tuple[CanaryScore, ...]
    answers: tuple[str, ...]
    """The ids that answered, sorted; more than one is no evaluator that could be named."""

    @property
    def outcome(self) -> CanaryOutcome:
        """Return how it ended."""
        if self.caught_out or self.refuses_everything:
            return CanaryOutcome.FAILED
        if self.unknown_why is not None:
            return CanaryOutcome.INCOMPLETE
        return CanaryOutcome.PASSED

    @property
    def counts(self) -> bool:
        """Tell whether it says how the evaluator stands: complete, and at the usual line."""
        return self.outcome is not CanaryOutcome.INCOMPLETE and self.line == LINE

    @property
    def bad(self) -> tuple[CanaryScore, ...]:
        """Return the scores of the bad canaries."""
        return tuple(one for one in self.scores if one.mode is not None)

    @property
    def good(self) -> tuple[CanaryScore, ...]:
        """Return the scores of the good canaries."""
        return tuple(one for one in self.scores if one.mode is None)

    @property
    def caught_out(self) -> tuple[CanaryScore, ...]:
        """Return the bad ones that it took for good."""
        return tuple(one for one in self.bad if one.score is not None and one.score >= self.line)

    @property
    def refused(self) -> tuple[CanaryScore, ...]:
        """Return the good ones that it took for bad."""
        return tuple(one for one in self.good if one.score is not None and one.score < self.line)

    @property
    def refuses_everything(self) -> bool:
        """Tell whether more than half of the good ones fell: it cannot tell good from bad."""
        return 2 * len(self.refused) > len(self.good)

    @property
    def unmeasured(self) -> tuple[CanaryScore, ...]:
        """Return those that got no score; unknown never counts as passed."""
        return tuple(one for one in self.scores if one.score is None)

    @property
    def unknown_why(self) -> str | None:
        """Return why the run cannot say that the evaluator passed, as a code; None if it can."""
        if len(self.answers) > 1:
            return "several_models"
        if any(_unknown_share(side) > MOST_UNKNOWN for side in (self.bad, self.good)):
            return "not_measured"
        let_pass = sum(one.score is not None for one in self.good) - len(self.refused)
        # Half of the good ones were not seen to pass, and an unknown one might have fallen.
        return "not_measured" if 2 * let_pass < len(self.good) else None


def _unknown_share(side: Sequence[CanaryScore]) -> float:
    return sum(one.score is None for one in side) / len(side) if side else 1.0


def mean_score(side: Sequence[CanaryScore]) -> float | None:
    """Return the mean of the scores there are, in [0, 1]; None if there are none."""
    known = [one.score for one in side if one.score is not None]
    return fmean(known) if known else None
