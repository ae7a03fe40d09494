"""Smooth calibration error: calibration error without buckets (Blasiok & Nakkiran 2023)."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from sureline.core.statistics.tally import Tally

Floats = NDArray[np.float64]

_CELLS = 4096
_HALVINGS = 40


def smooth_ece(tally: Tally) -> float | None:
    """Return the smooth calibration error of labelled scores, in [0, 1]; None without labels.

    The residuals label - score are smoothed over the scores by a Gaussian kernel of width w,
    reflected at 0 and 1, and the mean absolute value is taken; the error is the w that equals it
    ("Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing"). Unlike bucketed ECE it
    does not jump when a score crosses a bucket's edge.
    """
    if not tally.n:
        return None
    labels, correct = tally.counts
    waves = scipy.fft.dct(
        _on_cells(tally.score, (correct - labels * tally.score) / tally.n), type=2
    )
    # The kernel reflected at both ends is diagonal in the cosine basis.
    rates = (np.pi * np.arange(_CELLS)) ** 2 / 2
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        width = (low + high) / 2
        smoothed = scipy.fft.idct(waves * np.exp(-rates * width**2), type=2)
        if float(np.abs(smoothed).sum()) > width:
            low = width
        else:
            high = width
    return (low + high) / 2


def _on_cells(score: Floats, residual: Floats) -> Floats:
    """Share each residual between the two cells of [0, 1] whose middles are nearest."""
    place = np.clip(score * _CELLS - 0.5, 0, _CELLS - 1)
    left = np.minimum(place.astype(np.int64), _CELLS - 2)
    right_share = place - left
    cells = np.bincount(left, residual * (1 - right_share), _CELLS).astype(np.float64)
    cells += np.bincount(left + 1, residual * right_share, _CELLS)
    return cells
