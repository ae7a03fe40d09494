"""Calibrating from counted labels: what is fitted on what, and certified on what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sureline.core.gate.calibrating import SliceMaps
from sureline.core.learning.calibrate import SliceLabels, calibrate, table_of
from sureline.core.statistics.bins import score_bin
from sureline.core.statistics.calibration import Unfitted
from sureline.core.statistics.certificate import Demand, Provenance
from sureline.core.values.certificate import Certificate, Scale
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.stratum import Fold, LabelStratum, Stratum
from tests.builders import NOW

PLAIN = Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD)
PROVENANCE = Provenance(workspace="default", policy_hash="p", measurement_hash="m", issued_at=NOW)


def rows(
    labels: int, accuracy_offset: float = 0.0, seed: int = 1, **changes: object
) -> list[LabelCount]:
    """Draw labels whose chance of being correct is their score, shifted by the offset."""
    draw = np.random.default_rng(seed)
    scores = draw.beta(5, 1, labels)
    right = draw.random(labels) < np.clip(scores + accuracy_offset, 0, 1)
    folds = draw.random(labels) < 0.3
    counts: dict[tuple[int, bool, Fold], int] = {}
    for score, correct, fits in zip(scores, right, folds, strict=True):
        key = (score_bin(float(score)), bool(correct), Fold.FIT if fits else Fold.HOLD)
        counts[key] = counts.get(key, 0) + 1
    return [
        LabelCount(
            score_bin=place,
            correct=correct,
            count=count,
            stratum=LabelStratum(
                source=OutcomeSource.REVIEW,
                anchored=True,
                decision=replace(PLAIN, fold=fold, **changes),  # type: ignore[arg-type]
            ),
        )
        for (place, correct, fold), count in counts.items()
    ]


def labels(key: str, of: list[LabelCount], judges: bool = False) -> SliceLabels:
    return SliceLabels(
        slice_key=key, rows=of, judges=judges, demand=Demand(target=0.9), provenance=PROVENANCE
    )


def test_without_a_judge_all_labels_certify_the_composite() -> None:
    """One rising map keeps the order, so no label need be kept from the certificate."""
    (found,) = calibrate([labels("a", rows(2000))])
    assert isinstance(found.verdict, Certificate)
    assert found.verdict.scale is Scale.COMPOSITE
    assert found.verdict.n == 2000


def test_with_a_judge_the_threshold_is_certified_on_labels_that_fitted_nothing() -> None:
    """Two maps decide the order together, so they and the certificate share no label."""
    both = [*rows(2000), *rows(1500, accuracy_offset=-0.1, seed=2, judged=True)]
    (found,) = calibrate([labels("a", both, judges=True)])
    held = sum(row.count for row in both if row.stratum.decision.fold is Fold.HOLD)
    assert isinstance(found.verdict, Certificate)
    assert found.verdict.scale is Scale.CALIBRATED
    assert found.verdict.n == held


def test_judged_and_unjudged_outputs_are_not_mixed_up() -> None:
    """The same composite means less where the judged labels were wrong more often."""
    both = [*rows(3000), *rows(3000, accuracy_offset=-0.2, seed=2, judged=True)]
    (found,) = calibrate([labels("a", both, judges=True)])
    tables = {
        name: table_of(one) for name, one in found.maps.items() if not isinstance(one, Unfitted)
    }
    maps = SliceMaps(unjudged=tables["unjudged"], judged=tables["judged"])
    unjudged, judged = maps.at(0.9, judged=False), maps.at(0.9, judged=True)
    assert unjudged is not None
    assert judged is not None
    assert abs(unjudged - 0.9) < 0.04
    assert abs(judged - 0.7) < 0.06


def test_labels_of_a_chosen_few_certify_nothing() -> None:
    """Labels that were not drawn fairly are counted and shown, and left out of everything else."""
    (found,) = calibrate([labels("a", rows(500, representative=False))])
    assert not isinstance(found.verdict, Certificate)
    assert found.reliability.n == 0
    assert found.labels["selected"] == 500


@pytest.mark.parametrize(
    ("source", "counted"),
    [("audit", 500), ("incident", 500), ("review", 0), ("import", 0)],
)
def test_of_what_acted_alone_only_the_audit_counts(source: str, counted: int) -> None:
    """Whoever labels the good ones among the drawn outputs raises no certificate."""
    of = [
        replace(row, stratum=replace(row.stratum, source=OutcomeSource(source)))
        for row in rows(500, propensity=0.05)
    ]
    (found,) = calibrate([labels("a", of)])
    assert found.reliability.n == counted


def test_calibrated_reliability_is_measured_on_held_out_labels() -> None:
    """A map is judged on the fold that it was not fitted on."""
    of = rows(3000, accuracy_offset=-0.15)
    (found,) = calibrate([labels("a", of)])
    assert found.calibrated is not None
    assert found.calibrated.n == sum(
        row.count for row in of if row.stratum.decision.fold is Fold.HOLD
    )
    assert found.reliability.ece is not None
    assert found.calibrated.ece is not None
    assert found.calibrated.ece < found.reliability.ece / 2


def test_a_small_slice_leans_on_the_others() -> None:
    """Thirty labels alone fit no curve; beside a large slice they do."""
    small = rows(30, seed=5)
    (alone,) = calibrate([labels("b", small)])
    _, beside = calibrate([labels("a", rows(3000)), labels("b", small)])
    table = table_of(beside.maps["unjudged"])  # type: ignore[arg-type]
    assert abs(table[score_bin(0.9)] - 0.9) < 0.05
    assert alone.maps["unjudged"] is not None
