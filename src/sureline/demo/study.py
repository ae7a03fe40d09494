"""Does the certificate keep its word? The demonstration again and again, counting misses."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sureline.demo.items import bundled
from sureline.demo.run import run_demo


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRun:
    """One seed's figures; `precision` is None where nothing was automated."""

    seed: int
    automation: float
    precision: float | None
    auroc: float | None
    missed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Runs over several seeds.

    A run misses when what it automated was less precise than the target. A run that automates
    nothing does not miss, but helps nobody either; `idle` counts those.
    """

    runs: tuple[SeedRun, ...]

    @property
    def misses(self) -> int:
        """Return how many runs missed the target."""
        return sum(run.missed for run in self.runs)

    @property
    def idle(self) -> int:
        """Return how many runs automated nothing."""
        return sum(run.precision is None for run in self.runs)

    @property
    def automation(self) -> float:
        """Return the mean automated share, in [0, 1]."""
        return sum(run.automation for run in self.runs) / len(self.runs) if self.runs else 0.0


def study_seeds(seeds: Iterable[int], *, told: Callable[[SeedRun], None] | None = None) -> Study:
    """Run the bundled demonstration once per seed; `told` hears of each run as it ends."""
    runs: list[SeedRun] = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            result = run_demo(bundled(seed), folder=Path(folder))
        run = SeedRun(
            seed=seed,
            automation=result.automation,
            precision=result.precision,
            auroc=result.auroc,
            missed=result.missed,
        )
        runs.append(run)
        if told:
            told(run)
    return Study(runs=tuple(runs))
