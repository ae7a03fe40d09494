"""What GPT-4o says of itself on public data, before and after calibration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from page import Section
from public_data import DATA

from sureline.adapters.tables import open_table
from sureline.core.statistics.brier_interval import brier_score
from sureline.core.statistics.calibration import CalibrationMap, fit_tally
from sureline.core.statistics.reliability import Calibrated, Reliability, reliability
from sureline.core.statistics.smooth_ece import smooth_ece
from sureline.core.statistics.tally import tally_labels

FILE = "mmlupro_calibration.parquet"
MODEL = "gpt-4o-2024-08-06"
FITTED = 0.8
"""Share of the labels that the map is fitted on; the others are held out."""
FEW = 500

Floats = NDArray[np.float64]


def read_scores() -> tuple[Floats, NDArray[np.bool_]]:
    """Return the confidence that the model states, and whether it was right."""
    score: list[float] = []
    correct: list[int] = []
    columns = ["self_verbal", "correct"]
    for chunk in open_table(DATA / FILE).chunks(columns, [("model", MODEL)]):
        score += chunk.columns["self_verbal"]
        correct += chunk.columns["correct"]
    return np.asarray(score, np.float64), np.asarray(correct, bool)


def public_sections(seed: int, *, splits: int) -> list[Section]:
    """Return the tables; a line says it where the data are not here."""
    if not (DATA / FILE).exists():
        print(f"{FILE} is not here, left out")
        return []
    score, correct = read_scores()
    known = np.isfinite(score)
    unknown = len(score) - int(known.sum())
    score, correct = score[known], correct[known]
    before = reliability(tally_labels(score, correct))
    many = _held_out(score, correct, int(FITTED * len(score)), seed, splits)
    few = _held_out(score, correct, FEW, seed, splits)
    return [
        _buckets(
            f"GPT-4o on MMLU-Pro: what it says (all {before.n} answers)",
            f"{unknown} answers without a stated confidence are left out. "
            f"{_figures(score, correct)}",
            before,
        ),
        _buckets(
            f"After calibration on 80 % of the labels, on the {many[0].n} others",
            f"The first of {splits} random splits. {_summary(many)} {_summary(few, FEW)}",
            many[0],
        ),
    ]


def _held_out(
    score: Floats, correct: NDArray[np.bool_], labels: int, seed: int, splits: int
) -> list[Reliability]:
    """Fit on so many labels at random and look at all the others, again and again."""
    random = np.random.default_rng(seed)
    tables = []
    for _ in range(splits):
        order = random.permutation(len(score))
        used, held = order[:labels], order[labels:]
        fitted = fit_tally(tally_labels(score[used], correct[used]))
        assert isinstance(fitted, CalibrationMap)
        tables.append(reliability(tally_labels(fitted(score[held]), correct[held])))
    return tables


def _summary(tables: Sequence[Reliability], labels: int | None = None) -> str:
    buckets = [one for table in tables for one in table.buckets if one.n >= 10]
    inside = sum(one.verdict is Calibrated.WELL_CALIBRATED for one in buckets)
    gap = sum(one.n * abs(one.gap or 0.0) for one in buckets) / sum(one.n for one in buckets)
    if labels is None:
        return (
            f"Over all of them, {inside} of {len(buckets)} buckets of 10 labels or more "
            f"({inside / len(buckets):.2f}) have their mean prediction inside the 95 % interval "
            f"of the share correct, and the mean absolute gap is {gap:.3f}."
        )
    return (
        f"Fitted on {labels} labels only: mean absolute gap {gap:.3f}, inside "
        f"{inside / len(buckets):.2f}; that interval is narrow, because the others are many, and "
        "knows nothing of the map's own error."
    )


def _figures(score: Floats, correct: NDArray[np.bool_]) -> str:
    tally = tally_labels(score, correct)
    brier, smooth = brier_score(tally), smooth_ece(tally)
    assert brier is not None
    assert smooth is not None
    return (
        f"Brier {brier.value:.4f} [{brier.interval[0]:.4f}, {brier.interval[1]:.4f}], "
        f"smooth ECE {smooth:.4f}."
    )


def _buckets(title: str, note: str, table: Reliability) -> Section:
    rows = []
    for one in table.buckets:
        if one.predicted is None or one.actual is None or one.gap is None or one.interval is None:
            continue
        rows.append(
            (
                f"{one.low:.1f}-{one.high:.1f}",
                str(one.n),
                f"{one.predicted:.3f}",
                f"{one.actual:.3f}",
                f"{one.gap:+.3f}",
                f"[{one.interval[0]:.3f}, {one.interval[1]:.3f}]",
                str(one.verdict).replace("_", " "),
            )
        )
    heading = ("score", "labels", "stated", "right", "signed gap", "95 % interval", "verdict")
    return Section(title, note, heading, tuple(rows))
