"""What a large model states of itself on public data, before and after calibration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sureline.core.statistics.calibration import CalibrationMap, fit_tally
from sureline.core.statistics.reliability import Calibrated, reliability
from sureline.core.statistics.tally import tally_labels

DATA = Path(__file__).parents[5] / "shared" / "data" / "mmlupro_calibration.parquet"
Labelled = tuple[NDArray[np.float64], NDArray[np.bool_]]


@pytest.fixture(scope="module")
def stated() -> Labelled:
    """GPT-4o's stated confidences, and whether it was right."""
    if not DATA.exists():
        pytest.skip(f"{DATA.name} is not in ../shared/data beside the project")
    from pyarrow import parquet

    rows = parquet.read_table(
        DATA,
        columns=["self_verbal", "correct"],
        filters=[("model", "=", "gpt-4o-2024-08-06")],
    )
    score = rows["self_verbal"].to_numpy()
    known = np.isfinite(score)
    return score[known], rows["correct"].to_numpy()[known] == 1


def test_a_stated_ninety_percent_is_overconfident(stated: Labelled) -> None:
    """It says about .95 where it is right in about .76 of the answers."""
    top = reliability(tally_labels(*stated)).buckets[-1]
    assert top.predicted is not None
    assert top.actual is not None
    assert abs(top.predicted - 0.95) < 0.01
    assert abs(top.actual - 0.76) < 0.01
    assert top.verdict is Calibrated.OVERCONFIDENT


def test_after_calibration_held_out_gaps_are_within_their_intervals(stated: Labelled) -> None:
    """Over ten splits nearly all buckets of the held-out fifth are well calibrated."""
    score, correct = stated
    random = np.random.default_rng(1)
    verdicts = []
    for _ in range(10):
        order = random.permutation(len(score))
        used, held = np.split(order, [len(score) * 4 // 5])
        fitted = fit_tally(tally_labels(score[used], correct[used]))
        assert isinstance(fitted, CalibrationMap)
        table = reliability(tally_labels(fitted(score[held]), correct[held]))
        verdicts += [one.verdict for one in table.buckets if one.n >= 10]
    good = sum(verdict is Calibrated.WELL_CALIBRATED for verdict in verdicts)
    assert good >= 0.85 * len(verdicts)
