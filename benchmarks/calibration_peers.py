"""Other people's calibration, as peers: each is left out where it is not installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from sureline.core.statistics.tally import Tally

Floats = NDArray[np.float64]
Fit = Callable[[Tally], Callable[[Floats], Floats]]


def rows_of(tally: Tally) -> tuple[Floats, Floats]:
    """Return one score and one label a row."""
    labels, correct = tally.counts
    score = np.concatenate(
        [np.repeat(tally.score, correct), np.repeat(tally.score, labels - correct)]
    )
    right = np.concatenate([np.ones(correct.sum()), np.zeros((labels - correct).sum())])
    return score, right


def venn_abers(tally: Tally) -> Callable[[Floats], Floats]:
    """Fit the inductive Venn-Abers predictor, its two probabilities merged as its authors do."""
    from venn_abers import VennAbers

    score, right = rows_of(tally)
    predictor = VennAbers()
    predictor.fit(np.stack([1 - score, score], axis=1), right)

    def curve(scores: Floats) -> Floats:
        found: Floats = predictor.predict_proba(np.stack([1 - scores, scores], axis=1))[0][:, 1]
        return found

    return curve


def smooth_ece_peer(tally: Tally) -> float | None:
    """Return relplot's smooth calibration error; None where it is not installed."""
    if find_spec("relplot") is None:
        return None
    import relplot

    return float(relplot.smECE(*rows_of(tally)))


PEERS: dict[str, Fit] = {"Venn-Abers": venn_abers} if find_spec("venn_abers") else {}
"""Maps by name."""
