"""Does a reviewer notice planted errors? A test that may be looked at after every item (R7).

Under the null hypothesis a reviewer misses at most a share `careful` of the planted errors. The
evidence is the likelihood ratio of a larger share, uniform over [careful, 1], against `careful`
(a mixture e-process; Robbins 1970; Ramdas et al. 2023, "Game-theoretic statistics"). Each ratio
rises with the misses, so its expectation is at most 1 wherever the true share is `careful` or
less, and the chance that it *ever* reaches 1 / alpha is at most alpha (Ville's inequality).

The guard (guard.py) puts most of its weight on shares just above the allowed one, for a small
fall must be found too. Here it is the reverse: who does not look misses nearly all, and is to be
found after a handful of planted errors. Hence the flat weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p

import scipy

from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.errors import InvalidInput

CAREFUL = 0.1
"""Who misses no more than this share of the planted errors is careful."""
ALPHA = 0.001
"""The chance with which a careful reviewer is ever named within one record, at most.

The record rolls on: what is older than 90 days leaves it, and each day is a new beginning of the
test. Over a year of that the chance is higher, and still about 1 %: see the benchmark.
"""
_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """How many of the planted errors were noticed.

    `interval` is the exact two-sided 95 % interval of the share (Clopper-Pearson); `low` its
    one-sided 95 % lower bound, 0 of nothing: that is what rules are held to.
    """

    caught: int
    shown: int

    @classmethod
    def of_nothing(cls) -> Detection:
        """Return what is known before anything was shown."""
        return cls(caught=0, shown=0)

    @property
    def share(self) -> float | None:
        """Return the share noticed in [0, 1], None where nothing was shown."""
        return self.caught / self.shown if self.shown else None

    @property
    def interval(self) -> tuple[float, float]:
        """Return the two-sided 95 % interval; everything from 0 to 1 where nothing was shown."""
        if not self.shown:
            return 0.0, 1.0
        return (
            float(lower_bound(self.caught, self.shown, 0.025)),
            float(upper_bound(self.caught, self.shown, 0.025)),
        )

    @property
    def low(self) -> float:
        """Return the one-sided 95 % lower bound; 0 where nothing was shown."""
        return float(lower_bound(self.caught, self.shown, 0.05)) if self.shown else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What the planted errors say of one reviewer.

    `evidence` is the highest that there ever was, in nats, and `limit` what it takes to be named.
    `inattentive_in` are the slices whose own evidence suffices.
    """

    detection: Detection
    slices: Mapping[str, Detection]
    evidence: float
    limit: float
    inattentive_in: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Tell whether the lead is to look into it."""
        return self.evidence >= self.limit or bool(self.inattentive_in)


def miss_evidence(misses: int, shown: int, careful: float = CAREFUL) -> float:
    """Return ln of the evidence, in nats, that `misses` of `shown` are too many; 0 of nothing.

    Raises InvalidInput for impossible counts or a share that is not strictly between 0 and 1.
    """
    if not 0 <= misses <= shown or not 0.0 < careful < 1.0:
        raise InvalidInput("expected 0 <= misses <= shown and a share between 0 and 1")
    one, other = misses + 1.0, shown - misses + 1.0
    above = max(float(scipy.special.betaincc(one, other, careful)), _TINY)
    mixed = float(scipy.special.betaln(one, other)) + log(above)
    return mixed - misses * log(careful) - (shown - misses + 1) * log1p(-careful)


def peak_evidence(caught: Iterable[bool], careful: float = CAREFUL) -> float:
    """Return the highest evidence over planted errors in the order of their answers, in nats."""
    peak, misses, shown = 0.0, 0, 0
    for one in caught:
        shown, misses = shown + 1, misses + (not one)
        peak = max(peak, miss_evidence(misses, shown, careful))
    return peak


def attention(
    answers: Sequence[tuple[str, bool]], *, careful: float = CAREFUL, alpha: float = ALPHA
) -> Attention:
    """Return what a reviewer's answers to planted errors say: (slice, caught), oldest first.

    One test over all slices and one for each slice, for somebody may look in one place only. Half
    of `alpha` is the first one's, and the k-th slice has a share 1 / (k (k + 1)) of the rest, so
    that a careful reviewer is named, ever and anywhere, with a chance of at most `alpha`.
    """
    by_slice: dict[str, list[bool]] = {}
    for key, caught in answers:
        by_slice.setdefault(key, []).append(caught)
    found = [
        key
        for number, (key, caught) in enumerate(by_slice.items(), start=1)
        if peak_evidence(caught, careful) >= -log(alpha / 2 / (number * (number + 1)))
    ]
    return Attention(
        detection=_detection([caught for _, caught in answers]),
        slices={key: _detection(caught) for key, caught in by_slice.items()},
        evidence=peak_evidence((caught for _, caught in answers), careful),
        limit=-log(alpha / 2),
        inattentive_in=tuple(found),
    )


def _detection(caught: Sequence[bool]) -> Detection:
    return Detection(caught=sum(caught), shown=len(caught))
