"""Composed signals are no worse than the best single one that a policy admits (public data)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.composing_study import (
    DATA,
    FEWER,
    FIXED,
    INDEPENDENT,
    LEARNED,
    STATED,
    TARGET,
    Labels,
    Outcome,
    admitted,
    one_each,
    read_answers,
    split_by_item,
    study,
)

NOISE = 0.015
"""Of a share measured on 8,000 answers, by a threshold from 2,000 labels."""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """One split of one answer an item, of models drawn at random."""
    if not DATA.exists():
        pytest.skip("../shared/data/mmlupro_calibration.parquet is not here")
    answers = one_each(read_answers(), seed=1)
    labels = Labels(weights=1000, map=1000, threshold=2000)
    parts = split_by_item(answers, (1000, 1000, 2000), seed=1)
    items = [set(answers.item[part].tolist()) for part in parts]
    assert sum(map(len, items)) == len(set.union(*items)) == len(answers.item)
    return study(answers, labels, seed=1)


def test_learned_weights_predict_better_than_the_best_single_signal(
    outcomes: dict[str, Outcome],
) -> None:
    """By rank and by the mapped Brier score, beyond the error of the paired difference."""
    learned, best = outcomes[LEARNED], outcomes[INDEPENDENT]
    assert learned.auroc >= best.auroc
    assert learned.loss + 1.96 * learned.loss_error < 0.0


@pytest.mark.parametrize("name", [*FIXED, LEARNED])
def test_composites_certify_no_less_than_the_best_single_signal(
    outcomes: dict[str, Outcome], name: str
) -> None:
    """At the same number of labels for the threshold, within noise; and the threshold holds."""
    best = outcomes[FEWER if name == LEARNED else INDEPENDENT]
    found = outcomes[name]
    assert found.coverage >= best.coverage - NOISE
    assert found.precision is not None
    assert found.precision >= TARGET - 0.005


def test_the_learned_weights_are_such_as_a_policy_admits(outcomes: dict[str, Outcome]) -> None:
    """The self-report is never the largest (G4); where it would be, it is lowered."""
    own, *others = outcomes[LEARNED].weights
    assert own < max(others)
    lowered = admitted((STATED, INDEPENDENT), np.array([0.9, 0.1]))
    assert lowered.sum() == pytest.approx(1.0)
    assert lowered[0] < lowered[1]
