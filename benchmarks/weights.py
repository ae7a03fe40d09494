"""Learned weights beside fixed ones and beside each signal alone (STATISTICS §6).

On held-out data of MMLU-Pro (four confidence signals of several models) and on labels made to be
like those of function calls: two strong checks, a weak opinion, and a judge on a sample only.
Each row is a mean over draws: log loss after a logistic map, and the largest coverage at which the
held-out precision is at least the target; `used` is how often the learned weights were not kept
back, `rightly` how often they then automated at least as much on the held-out data.

Run: python benchmarks/weights.py [--draws 20] [--quick]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sureline.adapters.tables import open_table
from sureline.core.statistics.naive import largest_band
from sureline.core.statistics.platt import fit_platt
from sureline.core.statistics.tally import tally_labels
from sureline.core.statistics.weights import learn_weights

DATA = Path(__file__).parents[2] / "shared" / "data" / "mmlupro_calibration.parquet"
SIGNALS = ("self_verbal", "logit_conf", "self_linguistic", "peer_agree")
MODELS = ("gpt-4o-2024-08-06", "gpt-4.1", "gpt-4o-mini-2024-07-18", "claude-3-5-haiku-20241022")
TARGET = 0.90
SIZES = (30, 100, 300, 1000, 3000)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Signals (labels, names) with NaN for not measured, labels, names and fixed weights."""

    title: str
    x: Floats
    y: NDArray[np.bool_]
    names: tuple[str, ...]
    fixed: tuple[float, ...]


def mmlu(model: str) -> Sample:
    """Read one model's answers."""
    columns: dict[str, list[object]] = {name: [] for name in (*SIGNALS, "correct")}
    for chunk in open_table(DATA).chunks([*columns], (("model", model),)):
        for name, values in columns.items():
            values += chunk.columns[name]
    x = np.array([[np.nan if v is None else v for v in columns[s]] for s in SIGNALS], float).T
    return Sample(model, x, np.array(columns["correct"]) == 1, SIGNALS, (0.25,) * 4)


def function_calls(n: int = 20_000) -> Sample:
    """Make labels like those of function calls; a judge saw 30 % of them."""
    draw = np.random.default_rng(3)
    y = draw.random(n) < 0.8
    side = np.where(y, 1.0, -1.0)
    checks = np.round(expit(1.5 + 0.9 * side + draw.normal(0, 1.2, n)), 1)
    history = draw.binomial(10, expit(1.0 + 0.45 * side)) / 10
    report = np.round(expit(2.5 + 0.15 * side + draw.normal(0, 0.8, n)), 2)
    judge = np.where(draw.random(n) < np.where(y, 0.9, 0.4), 1.0, 0.0)
    judge[draw.random(n) > 0.3] = np.nan
    names = ("verification", "history", "self_report", "judge")
    return Sample(
        "function calls (made)",
        np.stack([checks, history, report, judge], axis=1),
        y,
        names,
        (0.35, 0.15, 0.25, 0.25),
    )


def mean(x: Floats, weights: Floats) -> Floats:
    """Compose as the gate does; .5 where nothing was measured."""
    seen = ~np.isnan(x)
    total = seen @ weights
    return np.where(total > 0, np.where(seen, x, 0) @ weights / np.maximum(total, 1e-12), 0.5)


def figures(
    score: Floats, y: NDArray[np.bool_], test: Floats, right: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the log loss on the test part after a map fitted on the other, and the coverage."""
    points, place = np.unique(score, return_inverse=True)
    fit = fit_platt(points, np.bincount(place, y).astype(np.int64), np.bincount(place))
    chance = fit(test)
    loss = -float(np.log(np.where(right, chance, 1 - chance)).mean())
    return loss, largest_band(tally_labels(np.clip(test, 0, 1), right), TARGET).coverage


def rows(sample: Sample, n: int, draws: int) -> list[tuple[str, float, float, str]]:
    """Return (name, log loss, coverage, remark) of fixed, learned and single weights."""
    fixed = np.array(sample.fixed)
    told: dict[str, list[tuple[float, float]]] = {}
    used = rightly = 0
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(sample.y))
        known, held = order[:n], order[n:]
        found = learn_weights(
            sample.x[known],
            sample.y[known],
            np.arange(n) % 5,
            names=sample.names,
            policy_weights=sample.fixed,
            target=TARGET,
        )
        tried = {"fixed": fixed}
        if found.learned is not None:
            tried["learned"] = np.array(found.learned.weights)
        for i, name in enumerate(sample.names):
            tried[f"only {name}"] = np.eye(len(sample.names))[i]
        for name, weights in tried.items():
            pair = figures(
                mean(sample.x[known], weights),
                sample.y[known],
                mean(sample.x[held], weights),
                sample.y[held],
            )
            told.setdefault(name, []).append(pair)
        if found.use:
            used += 1
            rightly += told["learned"][-1][1] >= told["fixed"][-1][1]
    remark = f"used {used}/{draws}, rightly {rightly}"
    return [
        (name, *np.mean(pairs, axis=0).tolist(), remark if name == "learned" else "")
        for name, pairs in told.items()
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    samples = [function_calls()]
    if DATA.exists():
        samples += [mmlu(model) for model in (MODELS[:1] if asked.quick else MODELS)]
    else:
        print(f"{DATA.name} is not here, left out")
    for sample in samples:
        print(f"\n{sample.title}: accuracy {sample.y.mean():.3f}, {len(sample.y)} labels")
        print(f"{'n':>6}  {'weights':<22}{'log loss':>9}{f'coverage at {TARGET}':>18}")
        for n in (100, 1000) if asked.quick else SIZES:
            for name, loss, coverage, remark in rows(sample, n, 3 if asked.quick else asked.draws):
                print(f"{n:>6}  {name:<22}{loss:>9.4f}{coverage:>18.3f}  {remark}")


if __name__ == "__main__":
    main()
