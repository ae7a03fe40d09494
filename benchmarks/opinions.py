"""Second opinions: false alarms of a year, asks until a jump is seen, and what labels say of them.

Reproduces the tables of docs/reference/opinions-benchmark.md.

Run: python benchmarks/opinions.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from page import Section, options, show, write
from scipy.stats import hypergeom
from threadpoolctl import threadpool_limits

from sureline.application.opinion_alarms import REFERENCE_DAYS, TESTS, WINDOWS
from sureline.core.learning.opinion_facts import OpinionEvidence, OpinionVerdict
from sureline.core.statistics.spike import Alertness, Rate, spike
from sureline.core.values.said import Said

DAYS = 365
ALPHA = 0.1
RATES = (0.01, 0.05, 0.2, 0.5)
VOLUMES = (5, 50, 500)

Counts = NDArray[np.int64]


def null_years(runs: int, random: np.random.Generator) -> Section:
    """Count alarms of a year in which nothing changes, looked at each day and each hour."""
    rows = []
    for rate in RATES:
        for volume in VOLUMES:
            daily, hourly, naive = (
                np.mean([_alarms(rate, volume, looks, level, random) for _ in range(runs)])
                for looks, level in ((1, None), (24, None), (1, 0.05))
            )
            row = f"{100 * rate:.0f} %", f"{volume}", f"{daily:.3f}", f"{hourly:.3f}"
            rows.append((*row, f"{naive:.1f}"))
    bound = ALPHA / 2
    return Section(
        "False alarms of a year",
        f"Mean number of days with a false alarm in {runs} years of one rate that stays as it is, "
        f"in windows of {WINDOWS[0]} and {WINDOWS[1]} days against the {REFERENCE_DAYS} days "
        f"before. Promised for one of the two rates of one series: at most {bound:g}. Significance "
        "alone is counted; the change of 5 points that an alarm needs besides makes it rarer.",
        ("rate", "a day", "a look a day", "a look an hour", "a daily test at .05"),
        tuple(rows),
    )


def _alarms(
    rate: float, volume: int, looks: int, level: float | None, random: np.random.Generator
) -> int:
    """Count the days of one year on which a look is significant at `level`, or as we do it."""
    warm = REFERENCE_DAYS + max(WINDOWS)
    allowed = Alertness(alpha=ALPHA, series=TESTS).allowed if level is None else level
    parts = random.multinomial(volume, [1 / looks] * looks, warm + DAYS)
    failed = random.binomial(parts, rate)
    asked_by, failed_by = np.cumsum(parts, axis=1), np.cumsum(failed, axis=1)
    alarmed = np.zeros((DAYS, looks), bool)
    for days in WINDOWS:
        now = _sums(asked_by, failed_by, days, warm)
        before = _reference(asked_by, failed_by, days, warm)
        tail = hypergeom.sf(now[1] - 1, before[0] + now[0], before[1] + now[1], now[0])
        alarmed |= (tail <= allowed) & (now[0] > 0)
    return int(alarmed.any(axis=1).sum())


def _sums(asked: Counts, failed: Counts, days: int, warm: int) -> tuple[Counts, Counts]:
    """Return (asked, failed) of the window that ends at each look."""
    found = []
    for by_look in (asked, failed):
        whole = np.concatenate([[0], np.cumsum(by_look[:, -1])])
        at = np.arange(warm, warm + DAYS)
        earlier = whole[at] - whole[at - days + 1]
        found.append(by_look[warm:] + earlier[:, None])
    return found[0], found[1]


def _reference(asked: Counts, failed: Counts, days: int, warm: int) -> tuple[Counts, Counts]:
    """Return (asked, failed) of the days before each window."""
    found = []
    for by_look in (asked, failed):
        whole = np.concatenate([[0], np.cumsum(by_look[:, -1])])
        first = np.arange(warm, warm + DAYS) - days + 1
        found.append((whole[first] - whole[first - REFERENCE_DAYS])[:, None])
    return found[0], found[1]


def jumps(runs: int, random: np.random.Generator) -> Section:
    """Count the asks until a jump of the failure rate is seen with a look at every ask."""
    rows = []
    for before in (0.0, 0.02, 0.1):
        for after in (0.2, 0.4, 1.0):
            row = [f"{100 * before:.0f} %", f"{100 * after:.0f} %"]
            for series in (1, 20):
                alertness = Alertness(alpha=ALPHA, series=series * TESTS)
                waits = [_wait(before, after, alertness, random) for _ in range(runs)]
                row += [f"{np.median(waits):.0f}", f"{np.quantile(waits, 0.9):.0f}"]
            rows.append(tuple(row))
    return Section(
        "Asks until a jump is seen",
        f"Failed opinions go from one rate to another; {runs} runs, 2,000 opinions before. With 20 "
        "series each gets a twentieth of the false alarms.",
        ("from", "to", "median, 1 series", "90 % within", "median, 20 series", "90 % within"),
        tuple(rows),
    )


def _wait(before: float, after: float, alertness: Alertness, random: np.random.Generator) -> int:
    past = Rate(part=int(random.binomial(2_000, before)), whole=2_000)
    failed = 0
    for asks in range(1, 1_000):
        failed += random.random() < after
        if spike(past, Rate(part=failed, whole=asks), alertness).alarm:
            return asks
    return 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Agrees with right outputs with chance `right`, with wrong ones with chance `wrong`.

    Where `sure`, it states a confidence that says nothing more. Outputs are right with chance
    `base`; those that it agreed with get a label with chance `audit`, the others all do.
    """

    name: str
    right: float
    wrong: float
    base: float = 0.8
    sure: bool = False
    audit: float = 1.0


OPINIONS = (
    Opinion(name="says nothing: agrees with 90 %", right=0.9, wrong=0.9),
    Opinion(name="the same, with a confidence", right=0.9, wrong=0.9, sure=True),
    Opinion(name="the same, half are right", right=0.9, wrong=0.9, base=0.5),
    Opinion(name="the same, audited at 10 %", right=0.9, wrong=0.9, audit=0.1),
    Opinion(name="says nothing: agrees with 50 %", right=0.5, wrong=0.5),
    Opinion(name="tells: agrees with 90 % of right, 60 % of wrong", right=0.9, wrong=0.6),
    Opinion(name="tells: agrees with 95 % of right, 30 % of wrong", right=0.95, wrong=0.3),
    Opinion(name="misleads: agrees with 70 % of right, 90 % of wrong", right=0.7, wrong=0.9),
)


def verdicts(runs: int, random: np.random.Generator) -> Section:
    """Count what is said of opinions that say nothing, tell, or mislead."""
    rows = []
    for opinion in OPINIONS:
        for outputs in (60, 200, 600):
            found = Counter(_verdict(opinion, outputs, random) for _ in range(runs))
            shares = (f"{found[one] / runs:.3f}" for one in OpinionVerdict)
            rows.append((opinion.name, f"{outputs}", *shares))
    return Section(
        "What labels say of an opinion",
        f"Share of {runs} slices; outputs are right with .8 where nothing else is said. Of "
        "opinions that say nothing, about one in forty is called one thing or the other by one "
        "interval of 95 %; a stated confidence is a second one.",
        ("opinion", "outputs", *(one.replace("_", " ") for one in OpinionVerdict)),
        tuple(rows),
    )


def _verdict(opinion: Opinion, outputs: int, random: np.random.Generator) -> OpinionVerdict:
    evidence = OpinionEvidence("judge")
    for _ in range(outputs):
        correct = bool(random.random() < opinion.base)
        agrees = bool(random.random() < (opinion.right if correct else opinion.wrong))
        if agrees and random.random() > opinion.audit:
            continue
        confidence = float(random.uniform(0.6, 1.0)) if opinion.sure else 1.0
        stands_for = confidence if agrees else 1 - confidence
        said = Said(signal="judge", chance=stands_for, against=not agrees, model=None)
        evidence.add(said, correct=correct, weight=1 / opinion.audit if agrees else 1.0)
    return evidence.facts(0.25).verdict


def main() -> None:
    """Run everything in one thread."""
    chosen = options(__doc__)
    started, random = perf_counter(), np.random.default_rng(chosen.seed)
    with threadpool_limits(1):
        sections = (
            null_years(5 if chosen.quick else 20, random),
            jumps(20 if chosen.quick else 60, random),
            verdicts(50 if chosen.quick else 300, random),
        )
    show(sections, perf_counter() - started)
    if chosen.write:
        about = (
            "Written by `python benchmarks/opinions.py --write`; the method is explained in "
            "[second-opinions.md](../explanation/second-opinions.md#health)."
        )
        write("opinions-benchmark.md", "Second opinions, measured", about, sections)


if __name__ == "__main__":
    main()
