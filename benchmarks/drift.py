"""Drift: false alarms in a year, weeks until a shift is seen, and what PSI cut-offs would do.

Reproduces the tables of docs/reference/drift-benchmark.md.

Run: python benchmarks/drift.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from page import Section, options, show, write
from scipy.special import expit
from threadpoolctl import threadpool_limits

from sureline.core.statistics.bins import BINS, bins_of
from sureline.core.statistics.drift import ScoreWindow, Vigilance, missing_drift, score_drift
from sureline.core.statistics.drift_index import score_stability

WEEKS = 52
REFERENCE = 5000
VOLUMES = (50, 100, 500, 2000)
SHIFTS = (0.0, 0.1, 0.2, 0.3, 0.5)

Logits = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Logits]

SCORES: dict[str, Draw] = {
    "smooth": lambda random, n: random.normal(2.0, 1.0, n),
    "crowded near 1": lambda random, n: 4.0 + random.logistic(0.0, 1.2, n),
    "nine values": lambda random, n: 0.5 + 0.5 * random.binomial(8, 0.7, n),
}
"""How scores are spread, on the logit scale."""


def window(logits: Logits) -> ScoreWindow:
    """Count scores as they are recorded."""
    return ScoreWindow(counts=np.bincount(bins_of(expit(logits)), minlength=BINS))


def null_years(runs: int, random: np.random.Generator) -> Section:
    """Count years without drift in which something alarms."""
    rows = []
    for name, draw in SCORES.items():
        for n in VOLUMES[:3]:
            found = np.zeros((runs, 3))
            for run in range(runs):
                reference = window(draw(random, REFERENCE))
                for week in range(1, WEEKS + 1):
                    now = window(draw(random, n))
                    drift = score_drift(reference, now, Vigilance(week=week))
                    index = score_stability(reference, now) or 0.0
                    found[run] = np.maximum(
                        found[run], (drift.significant, drift.p_value <= 0.05, index > 0.1)
                    )
            rows.append((name, f"{n}", *(f"{one:.3f}" for one in found.mean(axis=0))))
    return Section(
        "Years without drift that alarm",
        f"Share of {runs} years of {WEEKS} weeks; reference of {REFERENCE} scores, alpha .05. "
        "Significance alone is counted; the effect that an alarm needs besides makes it rarer.",
        ("scores", "a week", "sureline", "the same test at .05 each week", "PSI above .1"),
        tuple(rows),
    )


def shifts(runs: int, random: np.random.Generator) -> Section:
    """Count the weeks until a shift of the logits is seen that begins in week 1, or in week 27."""
    rows = []
    for begins in (1, 27):
        for n in VOLUMES:
            row = [f"{begins}", f"{n}"]
            for shift in SHIFTS[1:]:
                waits = [_wait(n, shift, begins, random) for _ in range(runs)]
                row.append(f"{np.median(waits):.0f}" if np.median(waits) < 100 else "over 26")
            rows.append(tuple(row))
    return Section(
        "Weeks until a shift is seen",
        f"Median of {runs} runs with smooth scores (logits with a standard deviation of 1), "
        f"reference of {REFERENCE}. The later it begins, the more evidence a week must bring.",
        ("begins in week", "a week", *(f"logits down by {shift}" for shift in SHIFTS[1:])),
        tuple(rows),
    )


def _wait(n: int, shift: float, begins: int, random: np.random.Generator) -> float:
    reference = window(random.normal(2.0, 1.0, REFERENCE))
    for week in range(begins, begins + 26):
        now = window(random.normal(2.0 - shift, 1.0, n))
        if score_drift(reference, now, Vigilance(week=week)).alarm:
            return week - begins + 1.0
    return np.inf


def cut_offs(runs: int, random: np.random.Generator) -> Section:
    """Count weeks without drift that a PSI cut-off would call drift."""
    rows = []
    for reference_n in (100, 1000, REFERENCE):
        for n in VOLUMES:
            index = np.array(
                [
                    score_stability(
                        window(random.normal(2, 1, reference_n)), window(random.normal(2, 1, n))
                    )
                    for _ in range(runs)
                ]
            )
            fires = (index > 0.1).mean(), (index > 0.2).mean(), (index > 0.25).mean()
            shown = [f"{one:.3f}" for one in fires]
            rows.append((f"{reference_n}", f"{n}", f"{np.median(index):.3f}", *shown))
    return Section(
        "Weeks without drift that a PSI cut-off calls drift",
        f"Share of {runs} weeks, ten groups.",
        ("reference", "a week", "median PSI", "above .1", "above .2", "above .25"),
        tuple(rows),
    )


def sizes(runs: int, random: np.random.Generator) -> Section:
    """Show that significance grows with the volume and the effect does not."""
    rows = []
    for n in (1000, 100_000, 1_000_000):
        for shift in (0.01, 0.2):
            drifts = [
                score_drift(
                    window(random.normal(2, 1, n)),
                    window(random.normal(2 - shift, 1, n)),
                    Vigilance(week=1),
                )
                for _ in range(max(1, runs // 20))
            ]
            rows.append(
                (
                    f"{shift}",
                    f"{n}",
                    f"{np.median([d.p_value for d in drifts]):.1g}",
                    f"{np.median([d.effect for d in drifts]):.3f}",
                    f"{np.mean([d.alarm for d in drifts]):.2f}",
                )
            )
    return Section(
        "Significance is not size",
        f"Medians of {max(1, runs // 20)} runs; both windows of the same size.",
        ("shift in standard deviations", "scores", "p-value", "effect", "alarms"),
        tuple(rows),
    )


def missing(runs: int, random: np.random.Generator) -> Section:
    """Count weeks until a signal that goes missing is seen, and false alarms."""
    rows = []
    for rate in (0.01, 0.05, 0.10, 0.20, 0.90):
        row = [f".01 to {rate:.2f}".replace("0.", ".")]
        for n in VOLUMES[1:]:
            waits = []
            for _ in range(runs):
                before = (int(random.binomial(REFERENCE, 0.01)), REFERENCE)
                counts = random.binomial(n, rate, WEEKS)
                alarms = (
                    week
                    for week in range(1, WEEKS + 1)
                    if missing_drift(before, (int(counts[week - 1]), n), Vigilance(week=week)).alarm
                )
                waits.append(next(alarms, np.inf))
            seen = np.isfinite(waits).mean()
            row.append(f"{np.median(waits):.0f}" if seen > 0.5 else f"{seen:.3f} of years")
        rows.append(tuple(row))
    return Section(
        "Weeks until a signal that goes missing is seen",
        f"Median of {runs} years, or the share of years with an alarm where that is under half; "
        f"reference of {REFERENCE}. The first row is no change.",
        ("share missing", *(f"{n} a week" for n in VOLUMES[1:])),
        tuple(rows),
    )


def main() -> None:
    """Run everything and print the tables; `--write` also writes the page."""
    chosen = options(__doc__)
    runs = 20 if chosen.quick else 200
    random = np.random.default_rng(chosen.seed)
    start = perf_counter()
    sections = [
        null_years(runs, random),
        shifts(runs // 2, random),
        cut_offs(runs * 5, random),
        sizes(runs // 2, random),
        missing(runs // 2, random),
    ]
    show(sections, perf_counter() - start)
    if chosen.write:
        about = (
            "Written by `python benchmarks/drift.py --write`; the method is explained in "
            "[drift.md](../explanation/drift.md)."
        )
        write("drift-benchmark.md", "Drift, measured", about, sections)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
