"""Certificates that allow for the errors that those who label miss."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from sureline.core.statistics.attention import Detection
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.measured_detection import ENOUGH, MeasuredDetection
from sureline.core.statistics.missed_errors import LEAST, certify_allowing
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.core.values.certificate import (
    Certificate,
    ErrorRate,
    NoCertificate,
    Uncertified,
)

PROVENANCE = Provenance(
    workspace="w",
    policy_hash="p",
    measurement_hash="m",
    issued_at=datetime(2026, 6, 1, tzinfo=UTC),
    labels_excluded=7,
)
TARGET, DELTA = 0.9, 0.05


def seen(caught: int, shown: int) -> MeasuredDetection:
    return MeasuredDetection.of(Detection(caught=caught, shown=shown), Detection.of_nothing())


def labels(wrong: int, right: int) -> Tally:
    return tally_labels(np.full(wrong + right, 0.9), np.arange(wrong + right) >= wrong)


def verdict(tally: Tally, measured: MeasuredDetection, **more: object) -> Certificate | Uncertified:
    demand = Demand(**{"target": TARGET, "delta": DELTA, **more})  # type: ignore[arg-type]
    return certify_allowing(
        tally, slice_key="s", demand=demand, provenance=PROVENANCE, measured=measured
    )


def test_the_certificate_promises_the_target_itself() -> None:
    """Target and delta are what was asked for; what the labels had to show stands beside it."""
    found = verdict(labels(0, 200), seen(58, 60), error_rate=ErrorRate.FAMILY, family_size=2)
    assert isinstance(found, Certificate)
    assert (found.target, found.delta, found.family_size) == (TARGET, DELTA / 2, 2)
    allowed = found.missed_errors
    assert allowed is not None
    assert (allowed.caught, allowed.shown, allowed.pooled) == (58, 60, False)
    assert allowed.labels_delta == DELTA / 4
    assert LEAST < allowed.noticed_at_least < 58 / 60
    assert allowed.labels_target == pytest.approx(1 - 0.1 * allowed.noticed_at_least)
    assert TARGET <= found.lower_bound < 1
    assert found.labels_excluded == 7
    plain = certify(
        labels(0, 200),
        slice_key="s",
        demand=Demand(target=TARGET, delta=DELTA),
        provenance=PROVENANCE,
    )
    assert isinstance(plain, Certificate)
    assert plain.id != found.id
    assert found.lower_bound < plain.lower_bound


@pytest.mark.parametrize(
    ("tally", "measured", "reason", "words"),
    [
        pytest.param(
            labels(0, 200),
            MeasuredDetection.of_nothing(),
            NoCertificate.MISSED_ERRORS,
            "no planted error has been shown",
            id="nothing was planted",
        ),
        pytest.param(
            labels(0, 200), seen(5, 5), NoCertificate.MISSED_ERRORS, "6 of 6 would", id="too few"
        ),
        pytest.param(
            labels(0, 200), seen(6, 6), None, "", id="as few as can be, with labels to spare"
        ),
        pytest.param(
            labels(0, 200),
            seen(20, 60),
            NoCertificate.MISSED_ERRORS,
            "20 of 60 planted errors",
            id="most are missed",
        ),
        pytest.param(
            labels(0, 29),
            seen(60, 60),
            NoCertificate.MISSED_ERRORS,
            "labels must show",
            id="labels that are just enough at face value",
        ),
        pytest.param(
            labels(0, 10), seen(60, 60), NoCertificate.INSUFFICIENT_DATA, "too few", id="few labels"
        ),
        pytest.param(
            labels(0, 10),
            MeasuredDetection.of_nothing(),
            NoCertificate.INSUFFICIENT_DATA,
            "too few",
            id="few labels, and nothing planted",
        ),
        pytest.param(
            labels(100, 300),
            seen(60, 60),
            NoCertificate.NO_CERTIFIABLE_THRESHOLD,
            "precise enough",
            id="an imprecise slice",
        ),
    ],
)
def test_what_is_missing_is_said(
    tally: Tally, measured: MeasuredDetection, reason: NoCertificate | None, words: str
) -> None:
    """Too few labels, too low a precision and too few planted errors are told apart."""
    found = verdict(tally, measured)
    if reason is None:
        assert isinstance(found, Certificate)
        return
    assert isinstance(found, Uncertified)
    assert found.reason is reason
    assert words in found.message
    assert found.labels_excluded == 7


@pytest.mark.parametrize(
    ("own", "everywhere", "pooled"),
    [((0, 0), (0, 0), False), ((ENOUGH, ENOUGH), (90, 99), False), ((1, 1), (9, 9), True),
     ((0, ENOUGH), (60, 90), False), ((0, ENOUGH - 1), (60, 90), True), ((3, 5), (3, 5), False)],
)  # fmt: skip
def test_few_planted_errors_are_pooled(
    own: tuple[int, int], everywhere: tuple[int, int], pooled: bool
) -> None:
    """Whether a slice stands for itself depends on how many were shown, not on how many noticed."""
    one = Detection(caught=own[0], shown=own[1])
    found = MeasuredDetection.of(one, Detection(caught=everywhere[0], shown=everywhere[1]))
    assert found.pooled is pooled
    assert found.own == one
    assert (found.used.caught, found.used.shown) == (everywhere if pooled else own)


def test_who_misses_a_fifth_breaks_no_promise_that_allows_for_it() -> None:
    """Reviewers who miss 20 % of the errors, a slice just under its target, 600 runs each.

    Taken at face value their labels certify it far more often than delta; with the allowance not.
    A slice that is good enough is still certified.
    """
    rng = np.random.default_rng(20260601)
    runs, at_face_value, allowed, good = 600, 0, 0, 0

    def one_run(truth: float) -> tuple[bool, bool]:
        called_wrong = int(rng.binomial(600, (1 - truth) * 0.8))
        tally = labels(called_wrong, 600 - called_wrong)
        plain = certify(
            tally,
            slice_key="s",
            demand=Demand(target=TARGET, delta=DELTA),
            provenance=PROVENANCE,
        )
        found = verdict(tally, seen(int(rng.binomial(60, 0.8)), 60))
        return isinstance(plain, Certificate), isinstance(found, Certificate)

    for _ in range(runs):
        plain, found = one_run(TARGET - 0.002)
        at_face_value += plain
        allowed += found
        good += one_run(0.97)[1]
    assert at_face_value / runs > 4 * DELTA
    assert allowed / runs <= DELTA
    assert good / runs > 0.9
