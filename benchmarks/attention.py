"""Attention: how soon a rubber stamp is named, how often a careful reviewer is, what labels hold.

Reproduces the tables of docs/reference/attention-benchmark.md.

Run: python benchmarks/attention.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from page import Section, options, show, write

from sureline.core.review.honeypot import is_place, run_length
from sureline.core.statistics.attention import ALPHA, Detection, miss_evidence
from sureline.core.statistics.binomial import p_value
from sureline.core.statistics.noisy_labels import corrected_precision, demand_under_noise

LIMIT = -log(ALPHA / 2)
TARGET, DELTA, JUST_UNDER = 0.95, 0.05, 0.9499
WEEKS, RECORD, A_WEEK = 52, 13, 5
"""A year, the weeks that are kept, and planted errors a week."""

Bools = NDArray[np.bool_]


@cache
def evidence(misses: int, shown: int) -> float:
    """Look a value up, or compute it once."""
    return miss_evidence(misses, shown)


def named_after(missed: Bools) -> int | None:
    """Return after how many planted errors a reviewer is named, None if never."""
    misses = 0
    for shown, one in enumerate(missed, start=1):
        misses += int(one)
        if evidence(misses, shown) >= LIMIT:
            return shown
    return None


def items_until_named(rng: np.random.Generator, share: float, most: int = 1000) -> int:
    """Return after how many items whoever approves all is named, planted ones counted too."""
    missed = items = 0
    place = 0.0
    for ordinal in range(1, most):
        if (ordinal - 1) % run_length(share) == 0:
            place = float(rng.random())
        items += 1
        if is_place(ordinal, share, place):
            items, missed = items + 1, missed + 1
            if evidence(missed, missed) >= LIMIT:
                return items
    return most


def rubber_stamps(rng: np.random.Generator, runs: int) -> Section:
    """Tell how soon somebody who approves everything is named."""
    rows = []
    for share in (0.02, 0.05, 0.1, 0.2):
        items = np.asarray([items_until_named(rng, share) for _ in range(runs)])
        low, middle, high = (f"{one:.0f}" for one in np.quantile(items, (0.1, 0.5, 0.9)))
        rows.append((f"{share:.2f}", f"{middle} ({low}–{high})", f"{np.mean(items <= 50):.3f}"))
    return Section(
        title="Somebody who approves everything",
        note=f"Items until the lead is told, median (tenth to ninetieth percentile), {runs} runs.",
        heading=("share planted", "items", "named within 50 items"),
        rows=tuple(rows),
    )


def alarms(rng: np.random.Generator, runs: int) -> Section:
    """Tell how often reviewers are named, by how much they miss."""
    rows = []
    for share in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
        cells = []
        for shown in (20, 100, 400):
            drawn = rng.random((runs, shown)) < share
            cells.append(f"{np.mean([named_after(one) is not None for one in drawn]):.4f}")
        rows.append((f"{share:.2f}", *cells, f"{_in_a_year(rng, share, runs // 4):.4f}"))
    return Section(
        title="Named, by the share of planted errors that is missed",
        note=f"Share of {runs} reviewers who are ever named, looked at after each error. Up "
        "to .10 nobody should be. The last column: a year of weekly looks, each at the 90 days "
        f"that are kept, {A_WEEK} planted errors a week, {runs // 4} reviewers.",
        heading=("missed", "20 planted", "100 planted", "400 planted", "a year, rolling"),
        rows=tuple(rows),
    )


def _in_a_year(rng: np.random.Generator, share: float, runs: int) -> float:
    named = 0
    for _ in range(runs):
        drawn = rng.random(WEEKS * A_WEEK) < share
        named += any(
            named_after(drawn[max(0, week - RECORD) * A_WEEK : week * A_WEEK]) is not None
            for week in range(1, WEEKS + 1)
        )
    return named / runs


def corrected(rng: np.random.Generator, runs: int) -> Section:
    """Tell whether the corrected interval holds the true precision."""
    rows = []
    for truth, detects, shown in (
        (0.95, 0.9, 20),
        (0.95, 0.9, 100),
        (0.9, 0.6, 40),
        (0.8, 0.3, 40),
    ):
        hits, widths, stated = 0, [], 0
        for _ in range(runs):
            wrong = int(rng.binomial(400, (1 - truth) * detects))
            seen = Detection(caught=int(rng.binomial(shown, detects)), shown=shown)
            found = corrected_precision(400 - wrong, 400, seen)
            hits += found.interval[0] <= truth <= found.interval[1]
            stated += found.stated_interval[0] <= truth <= found.stated_interval[1]
            widths.append(found.interval[1] - found.interval[0])
        rows.append(
            (
                f"{truth}",
                f"{detects}",
                f"{shown}",
                f"{stated / runs:.3f}",
                f"{hits / runs:.3f}",
                f"{np.mean(widths):.3f}",
            )
        )
    return Section(
        title="Does the 95 % interval hold the true precision?",
        note=f"400 labels by people who notice a share of the errors; {runs} runs.",
        heading=("precision", "noticed", "planted", "as stated", "corrected", "width"),
        rows=tuple(rows),
    )


def certificates(rng: np.random.Generator, runs: int) -> Section:
    """Tell how often labels certify a slice whose precision is just under the target."""
    rows = []
    for name, detects in (
        ("all notice every error", (1.0, 1.0)),
        ("one of two approves everything", (1.0, 0.0)),
        ("both miss a tenth", (0.9, 0.9)),
        ("both approve everything", (0.0, 0.0)),
    ):
        counts = np.zeros(3)
        for _ in range(runs):
            counts += _certified(rng, detects)
        rows.append((name, *(f"{one / runs:.3f}" for one in counts)))
    return Section(
        title="False certificates",
        note=f"Precision {JUST_UNDER}, target {TARGET}, delta {DELTA}; two reviewers with 300 "
        f"labels and 30 planted errors each; {runs} runs. At most {DELTA} should be certified.",
        heading=("reviewers", "at face value", "without those named (used)", "stricter demand"),
        rows=tuple(rows),
    )


def _certified(rng: np.random.Generator, detects: Sequence[float]) -> NDArray[np.float64]:
    people = [
        (300 - int(rng.binomial(300, (1 - JUST_UNDER) * one)), rng.random(30) >= one)
        for one in detects
    ]
    kept = [right for right, missed in people if named_after(missed) is None]
    every = [right for right, _ in people]
    caught = sum(int(np.sum(~missed)) for _, missed in people)
    target, delta = demand_under_noise(TARGET, DELTA, Detection(caught=caught, shown=60))
    return np.asarray(
        [
            p_value(sum(every), 600, TARGET) <= DELTA,
            bool(kept) and p_value(sum(kept), 300 * len(kept), TARGET) <= DELTA,
            target < 1 and p_value(sum(every), 600, target) <= delta,
        ],
        np.float64,
    )


def main() -> None:
    """Run everything."""
    chosen = options(__doc__)
    rng = np.random.default_rng(chosen.seed)
    runs = 200 if chosen.quick else 2000
    began = perf_counter()
    sections = [one(rng, runs) for one in (rubber_stamps, alarms, corrected, certificates)]
    show(sections, perf_counter() - began)
    if chosen.write:
        write(
            "attention-benchmark.md",
            "Attention, measured",
            "Written by `python benchmarks/attention.py --write`; the method is explained in "
            "[attention.md](../explanation/attention.md).",
            sections,
        )


if __name__ == "__main__":
    main()
