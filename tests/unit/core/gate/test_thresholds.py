"""Which threshold holds now."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from sureline.core.gate.thresholds import threshold_now
from sureline.core.values.checks import ChecksPolicy, Reading
from sureline.core.values.policy import Hypothesis
from sureline.core.values.proposal import Stakes
from tests.builders import NOW, certificate, slice_policy

TODAY = NOW.date()
OPEN = Hypothesis(auto=0.85, reject=0.55, allow_uncertified=True, starts=TODAY)


def threshold(policy: dict[str, Any], held: Any, stakes: Stakes = Stakes.REVERSIBLE) -> Any:
    return threshold_now(
        slice_policy(**policy), held, measurement_hash="measurement", stakes=stakes, now=NOW
    )


@pytest.mark.parametrize(
    ("held", "absent"),
    [
        pytest.param(certificate(), None, id="valid"),
        pytest.param(None, "none", id="none"),
        pytest.param(certificate(measurement_hash="older"), "measurement_changed", id="measured"),
        pytest.param(certificate(issued_at=NOW - timedelta(days=90)), None, id="90-days-old"),
        pytest.param(certificate(issued_at=NOW - timedelta(days=91)), "expired", id="91-days"),
        pytest.param(certificate(issued_at=NOW + timedelta(hours=1)), "issued_in_future",
                     id="from-the-future"),
        pytest.param(certificate(target=0.9), "target_raised", id="weaker-target"),
        pytest.param(certificate(delta=0.1), "target_raised", id="weaker-confidence"),
        pytest.param(certificate(target=0.99), None, id="stronger-target"),
    ],
)  # fmt: skip
def test_a_certificate_holds_only_for_what_it_was_issued_for(held: Any, absent: str | None) -> None:
    """G20: another measurement, another promise or too great an age voids a certificate."""
    found = threshold({}, held)
    assert found.absent == absent
    assert found.auto == (0.9 if absent is None else None)
    assert not found.uncertified


@pytest.mark.parametrize(
    ("hypothesis", "stakes", "auto"),
    [
        pytest.param(OPEN, Stakes.REVERSIBLE, 0.85, id="open"),
        pytest.param(OPEN, Stakes.HIGH_COST, None, id="high-cost"),
        pytest.param(Hypothesis(auto=0.85), Stakes.REVERSIBLE, None, id="not-allowed"),
        pytest.param(Hypothesis(auto=0.85, allow_uncertified=True), Stakes.REVERSIBLE, None,
                     id="without-a-start"),
        pytest.param(Hypothesis(auto=0.85, allow_uncertified=True,
                                starts=TODAY - timedelta(days=29)),
                     Stakes.REVERSIBLE, 0.85, id="last-day"),
        pytest.param(Hypothesis(auto=0.85, allow_uncertified=True,
                                starts=TODAY - timedelta(days=30)),
                     Stakes.REVERSIBLE, None, id="over"),
        pytest.param(Hypothesis(auto=0.85, allow_uncertified=True, starts=date(2026, 12, 1)),
                     Stakes.REVERSIBLE, None, id="not-yet"),
    ],
)  # fmt: skip
def test_a_hypothesis_automates_reversible_actions_for_its_days_only(
    hypothesis: Hypothesis, stakes: Stakes, auto: float | None
) -> None:
    """G21: uncertified thresholds are stated, reversible and short."""
    found = threshold({"hypothesis": hypothesis}, None, stakes)
    assert found.auto == auto
    assert found.uncertified == (auto is not None)


@pytest.mark.parametrize(
    ("zone", "hour", "auto"),
    [
        pytest.param("UTC", 23, None, id="the evening before"),
        pytest.param("Asia/Tokyo", 23, 0.85, id="morning already"),
        pytest.param("Asia/Tokyo", 14, None, id="not yet midnight there"),
        pytest.param("America/New_York", 26, None, id="still the evening before there"),
        pytest.param("America/New_York", 29, 0.85, id="midnight there"),
        pytest.param("Nowhere/Land", 30, None, id="no such zone"),
    ],
)
def test_a_hypothesis_starts_when_its_day_starts_in_the_slices_zone(
    zone: str, hour: int, auto: float | None
) -> None:
    """The first day is a day where the slice reads dates, as `today` in its rules is."""
    policy = slice_policy(hypothesis=OPEN, checks=ChecksPolicy(reading=Reading(timezone=zone)))
    found = threshold_now(
        policy,
        None,
        measurement_hash="measurement",
        stakes=Stakes.REVERSIBLE,
        now=datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC) + timedelta(hours=hour - 24),
    )
    assert found.auto == auto


def test_a_certificate_goes_before_a_hypothesis() -> None:
    """What was proven replaces what was supposed; its reject threshold stays."""
    found = threshold({"hypothesis": OPEN}, certificate())
    assert (found.auto, found.certificate, found.reject) == (0.9, "cert_1", 0.55)
