"""Other ways to choose a threshold, for comparison only; sureline itself uses none of them.

Each takes a Tally, a target and a delta and returns the index of the distinct score at which its
band ends, or None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sureline.core.statistics.binomial import lower_bound, p_value, smallest_band, upper_bound
from sureline.core.statistics.partition import loosest_band
from sureline.core.statistics.tally import Tally

Rule = Callable[[Tally, float, float], int | None]


def ours(tally: Tally, target: float, delta: float) -> int | None:
    """Apply the weighted partition test: the rule that sureline certifies with."""
    return loosest_band(tally.labels, tally.correct, target, delta)


def running_precision(tally: Tally, target: float, _delta: float) -> int | None:
    """Walk down until the running precision first falls below the target."""
    holds = tally.correct >= target * tally.labels
    end = (len(holds) if holds.all() else int(np.argmin(holds))) - 1
    return end if end >= 0 else None


def largest_band(tally: Tally, target: float, _delta: float) -> int | None:
    """Take the largest band whose observed precision meets the target."""
    return _last(tally.correct >= target * tally.labels)


def bound_per_band(tally: Tally, target: float, delta: float) -> int | None:
    """Take the largest band whose own exact test passes, as if it were the only one tested."""
    return _last(p_value(tally.correct, tally.labels, target) <= delta)


def step_down(tally: Tally, target: float, delta: float) -> int | None:
    """Step down over nested suffixes of a grid with ratio 1.07, levels by simulation."""
    smallest = smallest_band(target, delta)
    ends = _grid(tally.labels, smallest, 1.07)
    if not len(ends):
        return None
    size = tally.labels[ends]
    p = p_value(tally.correct[ends], size, target)
    levels = np.minimum(_step_down_levels(tuple(size.tolist()), target, delta), delta)
    done = -1
    while done < len(ends) - 1:
        passed = np.flatnonzero(p[done + 1 :] < levels[done + 1])
        if not len(passed):
            break
        done += 1 + int(passed[-1])
    return int(ends[done]) if done >= 0 else None


@lru_cache(maxsize=256)
def _step_down_levels(sizes: tuple[int, ...], target: float, delta: float) -> NDArray[np.float64]:
    walks, random = 9999, np.random.default_rng(20261130)
    steps = np.diff(sizes, prepend=0)
    counts = np.cumsum(random.binomial(steps, target, (walks, len(sizes))), axis=1)
    smallest = np.full(walks, np.inf)
    levels = np.empty(len(sizes))
    rank = math.floor(delta * (walks + 1)) - 1
    for i in range(len(sizes) - 1, -1, -1):
        values, place = np.unique(counts[:, i], return_inverse=True)
        smallest = np.minimum(smallest, p_value(values, sizes[i], target)[place])
        levels[i] = np.partition(smallest, rank)[rank]
    return levels


def fixed_sequence(tally: Tally, target: float, delta: float) -> int | None:
    """Test bands from four times the smallest on, loosening until the first that fails."""
    ends = _grid(tally.labels, 4 * smallest_band(target, delta), 1.05)
    passed = p_value(tally.correct[ends], tally.labels[ends], target) <= delta
    walked = len(passed) if passed.all() else int(np.argmin(passed))
    return int(ends[walked - 1]) if walked else None


def sgr(tally: Tally, target: float, delta: float) -> int | None:
    """Bisect over the distinct scores, delta shared by the steps."""
    n, best = len(tally.labels), None
    steps = max(1, math.ceil(math.log2(max(2, n))))
    low, high = 0, n - 1
    for _ in range(steps):
        middle = (low + high + 1) // 2
        if p_value(tally.correct[middle], tally.labels[middle], target) <= delta / steps:
            best, low = middle, middle
        else:
            high = max(low, middle - 1)
    return best


def holm(tally: Tally, target: float, delta: float) -> int | None:
    """Apply Holm's correction to a hundred thresholds 0, .01, ... .99 with exact tests."""
    ends = np.searchsorted(-tally.threshold, -np.linspace(0, 0.99, 100), side="right") - 1
    used = ends >= 0
    p = np.ones(len(ends))
    p[used] = p_value(tally.correct[ends[used]], tally.labels[ends[used]], target)
    order = np.argsort(p, kind="stable")
    passed = p[order] <= delta / np.arange(len(p), 0, -1)
    walked = len(passed) if passed.all() else int(np.argmin(passed))
    return int(ends[order[:walked]].max()) if walked else None


def mapie(tally: Tally, target: float, delta: float) -> int | None:
    """Ask MAPIE's own controller, at its defaults."""
    from mapie.risk_control import BinaryClassificationController

    labels, correct = tally.counts
    score = np.repeat(tally.threshold, labels)
    right = np.concatenate(
        [np.repeat([1, 0], [c, k - c]) for k, c in zip(labels, correct, strict=True)]
    )
    controller = BinaryClassificationController(
        predict_function=lambda x: np.c_[1 - x[:, 0], x[:, 0]],
        risk="precision",
        target_level=target,
        confidence_level=1 - delta,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(score[:, None], right)
    best = controller.best_predict_param
    if best is None:
        return None
    end = int(np.searchsorted(-tally.threshold, -float(best), side="right")) - 1
    return end if end >= 0 else None


RULES: dict[str, Rule] = {
    "weighted partition (ours)": ours,
    "step-down 1.07": step_down,
    "fixed sequence": fixed_sequence,
    "SGR": sgr,
    "Holm, grid 100": holm,
    "MAPIE": mapie,
    "bound per band": bound_per_band,
    "running precision": running_precision,
    "largest band": largest_band,
}
"""The rules compared; the last three are what people copy and prove nothing."""


def _last(holds: NDArray[np.bool_]) -> int | None:
    found = np.flatnonzero(holds)
    return int(found[-1]) if len(found) else None


def _grid(labels: NDArray[np.int64], first: int, ratio: float) -> NDArray[np.int64]:
    if not len(labels) or labels[-1] < first:
        return np.zeros(0, np.int64)
    anchors, anchor = [], first
    while anchor < labels[-1]:
        anchors.append(anchor)
        anchor = max(anchor + 1, math.ceil(anchor * ratio))
    return np.unique(np.searchsorted(labels, [*anchors, int(labels[-1])]))


def interval(count: int, of: int) -> tuple[float, float]:
    """Return the two-sided 95 % Clopper-Pearson interval of a share."""
    return float(lower_bound(count, of, 0.025)), float(upper_bound(count, of, 0.025))
