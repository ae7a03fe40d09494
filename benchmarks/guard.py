"""The guard: false alarms in a year of weekly looks, and how soon it notices a fall.

Reproduces the tables of docs/reference/guard-benchmark.md.

Run: python benchmarks/guard.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

import math
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from page import Section, options, show, write
from scipy.stats import binom
from threadpoolctl import threadpool_limits

from sureline.core.statistics.guard import EVERY
from sureline.core.statistics.guard_detection import labels_to_detect
from sureline.core.statistics.guard_evidence import log_evidence

TARGET, ALPHA = 0.95, 0.05
LIMIT = -math.log(ALPHA)
WEEKS, FALLS_IN = 52, 6
VOLUMES = (20, 60, 200)
AUDIT = 0.10

LOOK_UP, MOST_LABELS, MOST_ERRORS = 200_000, 2900, 400
"""Where so many values are needed, they are taken from a table of this size."""

Counts = NDArray[np.int64]
Errors = NDArray[np.bool_]
Floats = NDArray[np.float64]


@cache
def _table() -> Floats:
    """Return the evidence of one restart by errors and labels, for look-up."""
    wrong = np.arange(MOST_ERRORS + 1)[:, None]
    labels = np.arange(MOST_LABELS + 1)[None, :]
    return log_evidence(*np.broadcast_arrays(np.minimum(wrong, labels), labels), TARGET)


def _each(errors: Counts, labels: Counts) -> Floats:
    """Return the evidence of one restart in every run and look."""
    if errors.size > LOOK_UP and labels.max() <= MOST_LABELS and errors.max() <= MOST_ERRORS:
        return _table()[errors, labels]
    return log_evidence(errors, np.broadcast_to(labels, errors.shape), TARGET)


def follow(errors: Errors, looks: Counts) -> Floats:
    """Return the guard's evidence after so many labels; one row a run, one column a look."""
    counted = np.cumsum(errors, axis=1, dtype=np.int64)
    total = np.full((len(errors), len(looks)), -np.inf)
    for number, begun in enumerate(range(0, int(looks[-1]), EVERY)):
        first = int(np.searchsorted(looks, begun, side="right"))
        before = counted[:, begun - 1 : begun] if begun else 0
        since = counted[:, looks[first:] - 1] - before
        weighted = _each(since, looks[first:] - begun) - math.log((number + 1) * (number + 2))
        total[:, first:] = np.logaddexp(total[:, first:], weighted)
    return np.logaddexp(total, -np.log((looks - 1) // EVERY + 2))


def weekly(volume: int) -> int:
    """Return the audited labels a week, from automated outputs a day."""
    return round(volume * 7 * AUDIT)


def false_alarms(runs: int, random: np.random.Generator) -> Section:
    """Count years with a false alarm, at the boundary and well above the target."""
    rows = []
    for volume in VOLUMES:
        size = weekly(volume)
        for error in (0.05, 0.03, 0.01):
            errors = random.random((runs, size * WEEKS)) < error
            seen = size * np.arange(1, WEEKS + 1)
            tripped = (follow(errors, seen) >= LIMIT).any(axis=1).mean()
            each = np.arange(1, size * WEEKS + 1)
            closely = follow(errors, each) >= LIMIT if len(each) <= MOST_LABELS else None
            by_week = errors.reshape(runs, WEEKS, size).sum(axis=2)
            so_far = np.cumsum(by_week, axis=1)
            row = (
                tripped,
                (binom.sf(by_week - 1, size, 1 - TARGET) <= ALPHA).any(axis=1).mean(),
                (binom.sf(so_far - 1, seen, 1 - TARGET) <= ALPHA).any(axis=1).mean(),
                (by_week > (1 - TARGET) * size).any(axis=1).mean(),
            )
            always = "–" if closely is None else f"{closely.any(axis=1).mean():.3f}"
            shown = [f"{one:.3f}" for one in row]
            rows.append((f"{size}", f"{1 - error:.2f}", shown[0], always, *shown[1:]))
    return Section(
        "Years with a false alarm",
        f"Share of {runs} simulated years of {WEEKS} weekly looks; target {TARGET}, alpha {ALPHA}. "
        "At precision .95 the target is just met: the hardest case.",
        (
            "audited a week",
            "precision",
            "guard",
            "guard, looking after every label",
            "binomial test of the week",
            "binomial test of all so far",
            "week's precision below target",
        ),
        tuple(rows),
    )


def detection_times(runs: int, random: np.random.Generator) -> Section:
    """Count the audited labels from a fall to the alarm, after healthy spells of some lengths."""
    rows = []
    for healthy in (0, 100, 210, 300, 500, 1000, 2000):
        row = [f"{healthy}"]
        for error in (0.12, 0.15):
            good = random.random((runs, healthy)) < 0.03
            bad = random.random((runs, 900)) < error
            looks = healthy + np.arange(1, 901)
            hit = follow(np.concatenate((good, bad), axis=1), looks) >= LIMIT
            first = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 10_000)
            low, median, high = np.quantile(first, (0.1, 0.5, 0.9))
            guess = labels_to_detect(
                target=TARGET, alpha=ALPHA, precision=1 - error, healthy_labels=healthy
            )
            row += [f"{median:.0f} ({low:.0f}–{high:.0f})", f"{guess}"]
        rows.append(tuple(row))
    return Section(
        "Audited labels from a fall to the alarm",
        f"Median (tenth to ninetieth percentile) of {runs} runs, looking after every label; before "
        "the fall precision is .97. The estimate is what the report states (`labels_to_detect`).",
        (
            "healthy labels before",
            "precision falls to .88",
            "estimate",
            "precision falls to .85",
            "estimate",
        ),
        tuple(rows),
    )


def bad_year(runs: int, random: np.random.Generator) -> Section:
    """Simulate a year in which precision drops ten points at week 6."""
    rows = []
    for volume in VOLUMES:
        size = weekly(volume)
        before, after = size * FALLS_IN, size * (WEEKS - FALLS_IN)
        for good in (0.03, 0.05):
            errors = np.concatenate(
                (
                    random.random((runs, before)) < good,
                    random.random((runs, after)) < good + 0.10,
                ),
                axis=1,
            )
            looks = follow(errors, size * np.arange(1, WEEKS + 1)) >= LIMIT
            early = looks[:, :FALLS_IN].any(axis=1)
            late = looks[:, FALLS_IN:]
            weeks = np.where(late.any(axis=1), late.argmax(axis=1) + 1.0, np.inf)[~early]
            low, median, high = np.quantile(weeks, (0.1, 0.5, 0.9), method="lower")
            rows.append(
                (
                    f"{volume}",
                    f"{size}",
                    f"{1 - good:.2f} to {0.9 - good:.2f}",
                    f"{median:.0f} ({low:.0f}–{high:.0f})",
                    f"{median * size:.0f}",
                    f"{np.isfinite(weeks).mean():.3f}",
                    f"{early.mean():.3f}",
                )
            )
    return Section(
        "A year in which precision drops ten points after week 6",
        f"Median (tenth to ninetieth percentile) of {runs} years, an audit of a tenth, weekly "
        "looks.",
        (
            "automated a day",
            "audited a week",
            "precision",
            "weeks to the alarm",
            "labels to the alarm",
            "alarm within the year",
            "alarm before the drop",
        ),
        tuple(rows),
    )


def main() -> None:
    """Run everything and print the tables; `--write` also writes the page."""
    chosen = options(__doc__)
    runs = 100 if chosen.quick else 1000
    random = np.random.default_rng(chosen.seed)
    start = perf_counter()
    sections = [
        false_alarms(runs, random),
        detection_times(runs, random),
        bad_year(runs, random),
    ]
    show(sections, perf_counter() - start)
    if chosen.write:
        about = (
            "Written by `python benchmarks/guard.py --write`; the method is explained in "
            f"[guard.md](../explanation/guard.md). Target {TARGET}, alpha {ALPHA}."
        )
        write("guard-benchmark.md", "The guard, measured", about, sections)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
