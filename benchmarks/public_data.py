"""The public data sets beside the project, where they are present."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.tables import open_table

DATA = Path(__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Sample:
    """Scores and labels of one data set, the target to certify, and the sizes to label."""

    name: str
    score: NDArray[np.float64]
    correct: NDArray[np.bool_]
    target: float
    sizes: tuple[int, ...]
    prototype: str

    @property
    def oracle(self) -> float:
        """Return the largest coverage whose precision on all the data meets the target."""
        order = np.argsort(-self.score, kind="stable")
        score = self.score[order]
        ends = np.flatnonzero(np.append(score[1:] != score[:-1], True))
        precision = np.cumsum(self.correct[order])[ends] / (ends + 1)
        good = ends[precision >= self.target]
        return (int(good[-1]) + 1) / len(score) if len(good) else 0.0


_MMLU = (("model", "gpt-4.1"),)
_SETS = (
    (
        "msp gpt-4-turbo",
        "msp_mcqa.parquet",
        "msp",
        (("model", "gpt-4-turbo"),),
        0.95,
        (100, 200, 500, 1000, 2000, 5000),
        ".07/.12/.34/.51/.61/–",
    ),
    (
        "forecastbench",
        "forecastbench_crowd.parquet",
        "crowd_conf",
        (),
        0.95,
        (100, 200, 500),
        ".12/.33/.57",
    ),
    (
        "mmlupro gpt-4.1 logit",
        "mmlupro_calibration.parquet",
        "logit_conf",
        _MMLU,
        0.90,
        (500, 1000, 2000),
        ".04/.08/.14",
    ),
)


def public_samples() -> list[Sample]:
    """Return the samples whose files are present; says so for those that are not."""
    samples = []
    for name, file, column, where, target, sizes, prototype in _SETS:
        if not (DATA / file).exists():
            print(f"{name}: {file} is not here, left out")
            continue
        score: list[float] = []
        correct: list[int] = []
        for chunk in open_table(DATA / file).chunks([column, "correct"], where):
            score += chunk.columns[column]
            correct += chunk.columns["correct"]
        samples.append(
            Sample(name, np.asarray(score), np.asarray(correct, bool), target, sizes, prototype)
        )
    return samples
