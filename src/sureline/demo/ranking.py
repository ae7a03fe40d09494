"""How well a score tells right from wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """Return the chance that a correct item scores above a wrong one, ties counting half.

    None where there are no correct or no wrong items (Mann and Whitney 1947).
    """
    right = sum(labels)
    wrong = len(labels) - right
    if not right or not wrong:
        return None
    below, won = 0, 0.0
    ranked = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0])
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        marks = [label for _, label in tied]
        correct = sum(marks)
        won += correct * (below + (len(marks) - correct) / 2)
        below += len(marks) - correct
    return won / (right * wrong)
