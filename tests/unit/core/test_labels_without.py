"""Counted labels without one person's, and what that does for certificates."""

from __future__ import annotations

import numpy as np

from sureline.core.learning.labels import without
from sureline.core.statistics.attention import attention
from sureline.core.statistics.binomial import p_value
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.stratum import Fold, LabelStratum, Stratum

STRATUM = LabelStratum(
    source=OutcomeSource.REVIEW,
    anchored=True,
    decision=Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD),
)


def row(place: int, correct: bool, count: int) -> LabelCount:
    return LabelCount(score_bin=place, stratum=STRATUM, correct=correct, count=count)


def test_a_persons_labels_are_taken_out() -> None:
    """Right and wrong ones go; what is left keeps its place, and empty rows are gone."""
    rows = [row(10, True, 5), row(10, False, 2), row(20, True, 3)]
    assert without(rows, [row(10, True, 1), row(20, True, 3)]) == [
        row(10, True, 4),
        row(10, False, 2),
    ]
    assert without(rows, []) == rows


def test_a_rubber_stamp_does_not_certify_what_is_not_good_enough() -> None:
    """With a precision just under the target, one of two reviewers approving all unread.

    At face value the labels certify in most runs; without those of whoever is shown not to look,
    in 5 % of runs at most. The other one notices every error; 200 labels and 10 planted errors
    each.
    """
    rng = np.random.default_rng(21)
    runs, labels, target, delta = 600, 200, 0.95, 0.05
    at_face = left_out = 0
    for _ in range(runs):
        wrong = int(rng.binomial(labels, 1 - 0.9499))
        at_face += bool(p_value(2 * labels - wrong, 2 * labels, target) <= delta)
        lazy = attention([("a", False)] * 10).flagged
        careful = attention([("a", bool(one >= 0.1)) for one in rng.random(10)]).flagged
        seen = (labels - wrong) * (not careful) + labels * (not lazy)
        given = labels * (not careful) + labels * (not lazy)
        left_out += given > 0 and bool(p_value(seen, given, target) <= delta)
    assert at_face > 0.7 * runs
    assert left_out <= 0.06 * runs
