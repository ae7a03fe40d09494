"""Labels as counts by distinct score: all that a certificate or a reliability table needs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.bins import BINS, edges_of, scores_of
from sureline.core.statistics.checked import checked_labels, checked_scores
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """Labels by distinct score, best first; arrays of one length, one entry a distinct score.

    `threshold` falls; `{score >= threshold[i]}` holds `labels[i]` labels, `correct[i]` of them
    correct (both cumulative). `score` represents the entry in averages: the score itself, or the
    middle of its bin. Tied scores are one entry, so a band can never split them. `data_hash`
    names the labels whatever their order. `upper` is the highest score that an entry may hold.
    """

    threshold: NDArray[np.float64]
    score: NDArray[np.float64]
    labels: NDArray[np.int64]
    correct: NDArray[np.int64]
    data_hash: str
    upper: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Return the number of labels."""
        return int(self.labels[-1]) if len(self.labels) else 0

    @property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of labels and of correct ones of each entry, not cumulative."""
        return np.diff(self.labels, prepend=0), np.diff(self.correct, prepend=0)

    def band(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of labels and of correct ones with a score >= `threshold`."""
        end = int(np.searchsorted(-self.threshold, -threshold, side="right"))
        return (int(self.labels[end - 1]), int(self.correct[end - 1])) if end else (0, 0)


def tally_labels(scores: ArrayLike, labels: ArrayLike) -> Tally:
    """Count raw labels: scores in [0, 1] and labels 0 or 1, one a row, in any order.

    Raises InvalidInput naming the first row (counted from 1) that is neither.
    """
    score, label = checked_scores(scores), checked_labels(labels)
    if len(score) != len(label):
        raise InvalidInput(f"{len(score)} scores but {len(label)} labels")
    # Scores in [0, 1] sort like their bits, which leaves room for the label: one fast sort of
    # whole numbers does what sorting indices would do in several times as long.
    keys = np.sort(score.view(np.int64) * -2 - label)
    np.negative(keys, out=keys)
    bits = keys >> 1
    last = np.flatnonzero(np.append(bits[1:] != bits[:-1], True)[: len(bits)])
    distinct = bits[last].view(np.float64)
    return Tally(
        threshold=distinct,
        score=distinct,
        labels=last + 1,
        correct=np.cumsum(keys & 1)[last],
        data_hash=_digest("scores", keys),
    )


def tally_counts(score_bins: ArrayLike, correct: ArrayLike, counts: ArrayLike) -> Tally:
    """Count a table of (score bin, correct, count), one entry a row, in any order.

    Rows of one bin add up. Raises InvalidInput naming the row of a bin outside 0 .. 10,000 or of
    a count that is no whole number >= 0.
    """
    where, number = _whole(score_bins, "score_bin", BINS - 1), _whole(counts, "count", 2**53)
    label = checked_labels(correct)
    if not len(where) == len(number) == len(label):
        raise InvalidInput("bins, labels and counts must be equally many")
    total = _sum_by_bin(where, number)
    right = _sum_by_bin(where[label], number[label])
    used = np.flatnonzero(total)[::-1]
    return Tally(
        threshold=edges_of(used),
        score=scores_of(used),
        upper=np.nextafter(edges_of(np.minimum(used + 1, BINS - 1)), 0.0),
        labels=np.cumsum(total[used]),
        correct=np.cumsum(right[used]),
        data_hash=_digest("bins", used, total[used], right[used]),
    )


def _sum_by_bin(where: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros(BINS, np.int64)
    np.add.at(total, where, number)
    return total


def _whole(values: ArrayLike, field: str, most: int) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InvalidInput("expected whole numbers", field=field)
    good = (array >= 0) & (array <= most)
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInput(f"row {row + 1}: expected 0 to {most}, got {array[row]}", field=field)
    return array.astype(np.int64)


def _digest(kind: str, *columns: NDArray[np.int64]) -> str:
    """Return a hash of whole numbers that does not depend on the machine."""
    digest = hashlib.sha256(kind.encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column, "<i8").data)
    return digest.hexdigest()
