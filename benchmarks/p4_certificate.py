"""P4: how long a certificate takes, from raw labels beside MAPIE and from a count table.

Targets: from 100,000 raw labels at most 1/20 of MAPIE's time; from a count table at most 8 ms,
whatever the number of labels.

Run: python benchmarks/p4_certificate.py [--labels 100000] [--repeat 7]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sureline.core.statistics.bins import BINS, bins_of
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.critical import critical_values
from sureline.core.statistics.tally import Tally, tally_counts, tally_labels

PROVENANCE = Provenance(
    workspace="w",
    policy_hash="p",
    measurement_hash="m",
    issued_at=datetime(2026, 1, 1, tzinfo=UTC),
)
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def issue(tally: Tally) -> object:
    """Certify a tally."""
    return certify(tally, slice_key="s", demand=Demand(), provenance=PROVENANCE)


def milliseconds(work: Callable[[], object], repeat: int) -> float:
    """Return the median time of `work`."""
    times = []
    for _ in range(repeat):
        start = perf_counter()
        work()
        times.append((perf_counter() - start) * 1000)
    return median(times)


def mapie(score: NDArray[np.float64], right: NDArray[np.bool_]) -> None:
    """Calibrate MAPIE's controller at its defaults."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        predict_function=lambda x: np.c_[1 - x[:, 0], x[:, 0]],
        risk="precision",
        target_level=0.95,
        confidence_level=0.95,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(score[:, None], right.astype(int))


def count_table(n: int, random: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Return (bins, labels, counts) of n labels, as the store would sum them."""
    total, correct = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
    for _ in range(0, n, 1_000_000):
        part = min(n, 1_000_000)
        score = random.beta(6, 1, part)
        bins = bins_of(score)
        right = random.random(part) < score
        total += np.bincount(bins, minlength=BINS)
        correct += np.bincount(bins[right], minlength=BINS)
    good, bad = np.flatnonzero(correct), np.flatnonzero(total - correct)
    labels = np.repeat([1, 0], [len(good), len(bad)])
    return np.append(good, bad), labels, np.append(correct[good], (total - correct)[bad])


def main() -> None:
    """Time everything and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    random = np.random.default_rng(4)
    score = random.beta(6, 1, options.labels)
    right = random.random(options.labels) < score
    rival = milliseconds(lambda: mapie(score, right), max(3, options.repeat // 2))
    start = perf_counter()
    issue(tally_labels(score, right))
    cold = (perf_counter() - start) * 1000
    warm = milliseconds(lambda: issue(tally_labels(score, right)), options.repeat)
    print(f"P4 raw labels, n = {options.labels}: MAPIE {rival:.1f} ms")
    print(f"P4 raw labels, first time: {cold:.1f} ms, 1/{rival / cold:.1f} of MAPIE")
    print(f"P4 raw labels: {warm:.1f} ms, 1/{rival / warm:.0f} of MAPIE (target 1/20)")
    worst = 0.0
    for n in SIZES:
        table = count_table(n, random)
        critical_values.cache_clear()
        start = perf_counter()
        issue(tally_counts(*table))
        cold = (perf_counter() - start) * 1000
        warm = milliseconds(lambda table=table: issue(tally_counts(*table)), options.repeat)
        worst = max(worst, warm)
        print(f"P4 count table, n = {n}: {warm:.2f} ms warm, {cold:.0f} ms the first time")
    print(f"P4 count table: {worst:.2f} ms at worst (target 8 ms), ratio {worst / 8:.2f}")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
