"""P5: how much is automated, and how often below target, by ours and other threshold rules.

Reproduces the tables of docs/reference/threshold-benchmark.md.

Run: python benchmarks/threshold.py [--runs 200] [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from public_data import Sample, public_samples
from rich.console import Console
from rivals import RULES
from shapes import NAMED, TIED, Shape, random_shapes
from threadpoolctl import threadpool_limits
from threshold_tables import (
    Section,
    coverage_table,
    markdown,
    real_table,
    rich_table,
    split_table,
    violation_table,
)

from sureline.core.statistics.tally import tally_labels

TARGET, DELTA = 0.95, 0.05
SIZES = (100, 200, 500, 1000, 2000, 5000, 20000)
SLOW = {"MAPIE": 10, "step-down 1.07": 1}
"""Rules that see one run in so many, and continuous shapes only: each tie pattern costs them."""
BORDERLINE = {"flat .951", "flat .949 (null)", "edge .9501/.9485"}
"""Shapes within .0015 of the target, on which no valid rule can automate much."""
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "threshold-benchmark.md"


@dataclass
class Cell:
    """What a rule did on one shape at one size."""

    runs: int = 0
    below: int = 0
    below_all: int = 0
    none: int = 0
    coverage: float = 0.0

    def add(self, precision: float, coverage: float, target: float) -> None:
        """Count one run; `precision` is the true one."""
        self.runs += 1
        self.below += coverage > 0 and precision < target
        self.none += coverage == 0
        self.coverage += coverage


@dataclass
class Results:
    """Cells by rule, size and shape, with each shape's oracle coverage."""

    cells: dict[tuple[str, int, str], Cell] = field(default_factory=lambda: defaultdict(Cell))
    oracle: dict[str, float] = field(default_factory=dict)


def simulate(shapes: Iterable[Shape], sizes: Sequence[int], runs: int, seed: int) -> Results:
    """Draw `runs` samples of every shape and size and apply every rule to each."""
    results = Results()
    for shape in shapes:
        results.oracle[shape.name] = shape.truth.oracle(TARGET)
        for n in sizes:
            random = np.random.default_rng([seed, n, len(results.oracle)])
            for run in range(runs):
                _one_run(results, shape, n, run, random)
    return results


def _one_run(results: Results, shape: Shape, n: int, run: int, random: np.random.Generator) -> None:
    tally = tally_labels(*shape.sample(random, n))
    for name, rule in RULES.items():
        if run % SLOW.get(name, 1) or (name in SLOW and not shape.continuous):
            continue
        end = rule(tally, TARGET, DELTA)
        threshold = None if end is None else float(tally.threshold[end])
        results.cells[name, n, shape.name].add(*shape.truth.at(threshold), TARGET)


def on_real_data(samples: Sequence[Sample], runs: int, seed: int) -> dict[tuple[str, int], Cell]:
    """Label n items at random and check the threshold on all the others."""
    ours = RULES["weighted partition (ours)"]
    cells: dict[tuple[str, int], Cell] = defaultdict(Cell)
    for sample in samples:
        random = np.random.default_rng(seed)
        for n in sample.sizes:
            for _ in range(runs):
                order = random.permutation(len(sample.score))
                used, held = order[:n], order[n:]
                tally = tally_labels(sample.score[used], sample.correct[used])
                end = ours(tally, sample.target, DELTA)
                threshold = np.inf if end is None else tally.threshold[end]
                chosen = sample.score[held] >= threshold
                precision = sample.correct[held][chosen].mean() if chosen.any() else 1.0
                cell = cells[sample.name, n]
                cell.add(float(precision), float(chosen.mean()), sample.target)
                everyone = sample.score >= threshold
                cell.below_all += bool(
                    everyone.any() and sample.correct[everyone].mean() < sample.target
                )
    return cells


def main() -> None:
    """Run everything and print the tables; `--write` also writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="samples per shape and size")
    parser.add_argument("--quick", action="store_true", help="a fortieth of the work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    runs = 10 if options.quick else options.runs
    sizes = SIZES[:-1] if options.quick else SIZES
    start = perf_counter()
    named = simulate(NAMED, sizes, runs, options.seed)
    shapes = random_shapes(8 if options.quick else 40, seed=options.seed + 20261130)
    fresh = simulate(shapes, sizes, max(5, runs // 4), options.seed)
    tied = simulate(TIED, sizes, runs, options.seed)
    samples = public_samples()
    cells = on_real_data(samples, runs, options.seed)
    continuous = [s.name for s in NAMED if s.continuous]
    clear = [name for name in continuous if name not in BORDERLINE]
    monotone = [s.name for s in NAMED if s.monotone]
    names = [s.name for s in shapes]
    sections = [
        coverage_table("Coverage ÷ oracle, named shapes", named, clear, sizes),
        coverage_table("Coverage ÷ oracle, with the borderline ones", named, continuous, sizes),
        violation_table("Below target, named monotone shapes", named, monotone, sizes, DELTA),
        violation_table(
            "Below target, named shapes that are not monotone",
            named,
            [s.name for s in NAMED if not s.monotone],
            sizes,
            DELTA,
        ),
        violation_table(
            "Below target, ties across the target", tied, [s.name for s in TIED], sizes, DELTA
        ),
        coverage_table("Coverage ÷ oracle, fresh random shapes", fresh, names, sizes),
        violation_table("Below target, fresh random shapes", fresh, names, sizes, DELTA),
        real_table(samples, cells),
        split_table(samples, cells),
    ]
    report(sections, options.write, runs, perf_counter() - start)


def report(sections: Sequence[Section], write: bool, runs: int, seconds: float) -> None:
    """Print the tables, and write the page if asked."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=220)
    for section in sections:
        console.print(rich_table(section))
    console.print(f"{runs} runs a cell, {seconds:.0f} s")
    if write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(markdown(sections, runs), encoding="utf-8")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
