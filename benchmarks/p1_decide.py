"""P1: decide with a durable record, beside the same rows inserted raw by group commit.

64 callers through the library: without history, then with a slice window of 20,000 and of
100,000 past cases (256 dimensions). Then the p99 at half of the peak. The last row asks a judge
and an evaluator that answer at once: what is left is what second opinions cost the gate itself,
beside its own rows inserted raw, and beside the same policy without models.

Run: python benchmarks/p1_decide.py [--store sqlite|postgres|both] [--quick] [--opinions] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from figures import hand_out
from filled_store import fill, policy_text, proposal
from instant_models import InstantModels, opinionated_policy
from page import Section
from raw_insert import raw_insert
from stores import TITLES, Stores, add_store_option, chosen, stores

import sureline

CALLERS = 64

Windows = tuple[tuple[int, float], ...]
"""Sizes of the window with the ratio that is aimed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One configuration's medians."""

    name: str
    per_second: float
    raw: float
    p99_ms: float

    @property
    def ratio(self) -> float:
        return self.per_second / self.raw


async def peak(gate: sureline.Gate, decisions: int, first: int) -> float:
    """Return decisions per second from 64 callers."""
    numbers = iter(range(first, first + decisions))

    async def call() -> None:
        for number in numbers:
            await gate.decide(**proposal(number))

    start = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(CALLERS)))
    return decisions / (time.perf_counter() - start)


async def p99_at(gate: sureline.Gate, per_second: float, decisions: int, first: int) -> float:
    """Return the 99th percentile in milliseconds when decisions arrive evenly at a rate."""
    seconds: list[float] = []
    start = time.perf_counter()

    async def one(number: int) -> None:
        due = start + (number - first) / per_second
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        before = time.perf_counter()
        await gate.decide(**proposal(number))
        seconds.append(time.perf_counter() - before)

    await asyncio.gather(*(one(number) for number in range(first, first + decisions)))
    return 1000 * statistics.quantiles(seconds, n=100)[98]


async def measure(url: str, policy: Path, decisions: int) -> tuple[float, float]:
    """Return the peak rate and the p99 at half of it."""
    plugins = sureline.Plugins(most_cases=100_000, model_client=InstantModels())
    async with sureline.Gate.open(policy, store=url, plugins=plugins) as gate:
        await peak(gate, CALLERS, 10_000_000)
        rate = await peak(gate, decisions, 0)
        return rate, await p99_at(gate, rate / 2, min(decisions, int(rate)), decisions)


def run(made: Stores, window: int, decisions: int, rounds: int, *, opinions: bool = False) -> Run:
    """Measure one window size; ratios are taken side by side, round by round."""
    rates, raws, tails = [], [], []
    filled = made.fresh()
    if window:
        fill(filled, window)
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder, "policy.yaml")
        text = opinionated_policy(Path(folder)) if opinions else policy_text(window)
        policy.write_text(text, encoding="utf-8")
        for _ in range(rounds):
            used = [made.copy(filled), made.fresh(), made.fresh()]
            rate, tail = asyncio.run(measure(used[0], policy, decisions))
            asyncio.run(measure(used[1], policy, decisions))
            raws.append(raw_insert(used[1], used[2]).per_second)
            rates.append(rate)
            tails.append(tail)
            for one in used:
                made.drop(one)
    made.drop(filled)
    return Run(
        name="judge and evaluator" if opinions else f"{window:,}",
        per_second=statistics.median(rates),
        raw=statistics.median(raws),
        p99_ms=statistics.median(tails),
    )


def section(made: Stores, decisions: int, rounds: int, windows: Windows) -> Section:
    """Measure all configurations on one store."""
    found = [(run(made, window, decisions, rounds), target) for window, target in windows]
    found.append((run(made, 0, decisions, rounds, opinions=True), 0.25))
    share = found[-1][0].per_second / found[0][0].per_second
    return Section(
        title=f"P1 on {TITLES[made.kind]}: decide through the library, beside bare inserts",
        note=f"{CALLERS} callers, {decisions:,} decisions, median of {rounds} rounds; the same "
        f"rows inserted raw in commits of {CALLERS}. With both opinions {share:.2f} of the rate "
        "without them.",
        heading=("window", "decisions/s", "raw/s", "ratio", "target", "p99 at half of peak, ms"),
        rows=tuple(row(one, target) for one, target in found),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer decisions, one round, no 100k")
    parser.add_argument("--opinions", action="store_true", help="no window, then opinions, only")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", action="store_true")
    add_store_option(parser)
    given = parser.parse_args()
    decisions, rounds = (1_500, 1) if given.quick else (6_400, 3)
    windows: Windows = ((0, 0.25),)
    if not given.opinions:
        windows += ((20_000, 0.12),) if given.quick else ((20_000, 0.12), (100_000, 0.05))
    began, found = time.perf_counter(), []
    for kind in chosen(given.store):
        with stores(kind) as made:
            found.append(section(made, decisions, given.rounds or rounds, windows))
    hand_out(found, as_json=given.json, seconds=time.perf_counter() - began)


def row(one: Run, target: float) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.per_second:,.0f}",
        f"{one.raw:,.0f}",
        f"{one.ratio:.2f}",
        f">= {target}",
        f"{one.p99_ms:.1f} (<= 30)",
    )


if __name__ == "__main__":
    main()
