"""Does a second opinion tell right from wrong in this slice? From labels, in words (G19, L5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.core.statistics.bins import score_bin
from sureline.core.statistics.discrimination import Discrimination, Weighed, discrimination
from sureline.core.statistics.reliability import TOO_FEW, Bucket, Calibrated
from sureline.core.values.said import OTHER_OPINIONS, Said

ENOUGH = 30
"""Fewer labels than this tell nothing of an opinion."""
LEAST_OF_EACH = 5
"""So many right and so many wrong outputs are needed."""
USELESS = 0.65
"""An opinion whose AUROC is shown to lie below this, and not above .5, adds nothing."""
BUCKETS = 10
MOST_SIGNALS = 20
"""Signals of a slice that are looked at, so that no plug-in can fill the memory."""
_TAIL = 0.025


class OpinionVerdict(StrEnum):
    """What labels say of an opinion."""

    MISLEADS = "consistent_but_wrong"
    """Outputs that it likes are right less often."""
    ADDS_NOTHING = "adds_nothing"
    """Outputs that it likes are right no more often than others."""
    TOO_FEW = "too_few_labels"
    """The labels do not say."""
    TELLS = "tells_right_from_wrong"
    """Outputs that it likes are right more often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Of `labels` outputs the share `right`, None of none, with its two-sided 95 % interval.

    The interval is Clopper and Pearson's: exact where every label counts the same, as it does
    where nothing acts alone; else of as many equal labels as these are worth (Kish).
    """

    labels: int
    right: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionFacts:
    """What labels say of one signal in one slice.

    `every` output that it gave an opinion on, those it `agreed` with, and those it was `against`.
    `auroc` is None without right and wrong outputs. `buckets` compare the chance it stood for with
    the share that was right. `models` are those that answered. `advice` is what a person may do.
    """

    signal: str
    models: tuple[str, ...]
    every: Accuracy
    agreed: Accuracy
    against: Accuracy
    auroc: Discrimination | None
    buckets: tuple[Bucket, ...]
    verdict: OpinionVerdict
    sentence: str
    advice: str | None


@dataclass(slots=True)
class _Bucket:
    given: Weighed = field(default_factory=Weighed)
    right: float = 0.0
    said: float = 0.0


@dataclass(slots=True)
class OpinionEvidence:
    """Gathers one signal's labels; memory does not grow with their number."""

    signal: str
    right: dict[int, Weighed] = field(default_factory=dict)
    wrong: dict[int, Weighed] = field(default_factory=dict)
    by_side: dict[tuple[bool, bool], Weighed] = field(default_factory=dict)
    buckets: dict[int, _Bucket] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)

    def add(self, said: Said, *, correct: bool, weight: float) -> None:
        """Take in one labelled output; `weight` is one over the chance of its having a label."""
        bins = self.right if correct else self.wrong
        bins.setdefault(score_bin(said.chance), Weighed()).add(weight)
        self.by_side.setdefault((said.against, correct), Weighed()).add(weight)
        bucket = self.buckets.setdefault(min(int(said.chance * BUCKETS), BUCKETS - 1), _Bucket())
        bucket.given.add(weight)
        bucket.right += weight * correct
        bucket.said += weight * said.chance
        if said.model is not None and len(self.models) < MOST_SIGNALS:
            self.models.add(said.model)

    def facts(self, weight: float) -> OpinionFacts:
        """Return what they say; `weight` is the signal's share of the score, in [0, 1]."""
        agreed, against = self._accuracy(False), self._accuracy(True)
        every, auroc = self._accuracy(False, True), discrimination(self.right, self.wrong)
        few = min(sum(one.labels for one in side.values()) for side in (self.right, self.wrong))
        verdict = _verdict(every.labels, few, auroc, self._by_side())
        return OpinionFacts(
            signal=self.signal,
            models=tuple(sorted(self.models)),
            every=every,
            agreed=agreed,
            against=against,
            auroc=auroc,
            buckets=tuple(_drawn(place, self.buckets.get(place)) for place in range(BUCKETS)),
            verdict=verdict,
            sentence=_sentence(self.signal, verdict, every, agreed, against, auroc),
            advice=_advice(self.signal, verdict, weight),
        )

    def _by_side(self) -> Discrimination | None:
        """Return what agreeing or not tells by itself, however sure the opinion was."""
        return discrimination(
            {int(not against): one for (against, right), one in self.by_side.items() if right},
            {int(not against): one for (against, right), one in self.by_side.items() if not right},
        )

    def _accuracy(self, *sides: bool) -> Accuracy:
        given, right = Weighed(), 0.0
        for (against, correct), found in self.by_side.items():
            if against in sides:
                given.labels += found.labels
                given.weight += found.weight
                given.squares += found.squares
                right += found.weight * correct
        if not given.labels:
            return Accuracy(labels=0, right=None, low=0.0, high=1.0)
        share = right / given.weight
        low, high = _interval(share, given.effective)
        return Accuracy(labels=given.labels, right=share, low=low, high=high)


def _interval(share: float, labels: float) -> tuple[float, float]:
    right = share * labels
    return float(lower_bound(right, labels, _TAIL)), float(upper_bound(right, labels, _TAIL))


def _verdict(
    labels: int, few: int, auroc: Discrimination | None, by_side: Discrimination | None
) -> OpinionVerdict:
    if auroc is None or by_side is None or labels < ENOUGH or few < LEAST_OF_EACH:
        return OpinionVerdict.TOO_FEW
    if min(auroc.high, by_side.high) < 0.5:
        return OpinionVerdict.MISLEADS
    if auroc.low > 0.5:
        return OpinionVerdict.TELLS
    return OpinionVerdict.ADDS_NOTHING if auroc.high < USELESS else OpinionVerdict.TOO_FEW


def _drawn(place: int, found: _Bucket | None) -> Bucket:
    low, high = place / BUCKETS, (place + 1) / BUCKETS
    if found is None:
        return Bucket(
            low=low,
            high=high,
            n=0,
            predicted=None,
            actual=None,
            gap=None,
            interval=None,
            verdict=Calibrated.TOO_FEW,
        )
    predicted, actual = found.said / found.given.weight, found.right / found.given.weight
    interval = _interval(actual, found.given.effective)
    return Bucket(
        low=low,
        high=high,
        n=found.given.labels,
        predicted=predicted,
        actual=actual,
        gap=predicted - actual,
        interval=interval,
        verdict=_calibrated(found.given.labels, predicted, interval),
    )


def _calibrated(labels: int, predicted: float, interval: tuple[float, float]) -> Calibrated:
    if labels < TOO_FEW:
        return Calibrated.TOO_FEW
    if predicted > interval[1]:
        return Calibrated.OVERCONFIDENT
    return Calibrated.UNDERCONFIDENT if predicted < interval[0] else Calibrated.WELL_CALIBRATED


def _sentence(
    signal: str,
    verdict: OpinionVerdict,
    every: Accuracy,
    agreed: Accuracy,
    against: Accuracy,
    auroc: Discrimination | None,
) -> str:
    if verdict is OpinionVerdict.TOO_FEW or auroc is None:
        return f"{signal}: too few labels to tell ({every.labels}, {_right(every)})."
    figures = (
        f"where it agreed {_right(agreed)}, where it did not {_right(against)}, of all "
        f"{_right(every)}; AUROC {auroc.auroc:.3f} ({auroc.low:.2f} to {auroc.high:.2f})."
    )
    if verdict is OpinionVerdict.MISLEADS:
        return f"{signal} is consistent but wrong here: its agreement goes with errors; {figures}"
    if verdict is OpinionVerdict.TELLS:
        return f"{signal} tells right from wrong here: {figures}"
    return f"{signal} adds nothing here: {figures}"


def _right(of: Accuracy) -> str:
    return "none had a label" if of.right is None else f"{100 * of.right:.1f} % were right"


def _advice(signal: str, verdict: OpinionVerdict, weight: float) -> str | None:
    weighed = f"lower its weight (now {weight:.2f} of the score)" if weight > 0 else ""
    if verdict is OpinionVerdict.MISLEADS:
        steps = ", and ".join(filter(None, (weighed, _other(signal))))
        return f"Do not lean on {signal} here: {steps}."
    if verdict is OpinionVerdict.ADDS_NOTHING:
        return f"What {signal} takes buys nothing here: {weighed or 'ask it less often'}."
    return None


def _other(signal: str) -> str:
    """Say what to change about an opinion that misleads."""
    if signal in OTHER_OPINIONS:
        return "add a signal that rests on something else: answers that agree can be wrong together"
    what = "deductions" if signal == "self_evaluation" else "guidance"
    return f"ask another model, or say in its {what} what counts as wrong here"
