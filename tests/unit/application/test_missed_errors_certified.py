"""From labels and planted errors to a certificate that allows for what reviewers miss."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sureline.core.values.certificate import Certificate, NoCertificate, Uncertified
from sureline.core.values.outcome import Action
from sureline.core.values.proposal import Stakes
from tests.adapters.storage.test_storage_planted import Desk

POLICY = """\
version: 1
slices:
  replies:
    output: {{structured: false}}
    weights: {{verification: 1}}
    prose: [{{max_length: 500}}]
    target_precision: 0.8
    delta: 0.2
    review: {{honeypots: 0.5, double_review: 0, missed_errors: {use}}}
"""


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A slice with 32 approved outputs, and planted errors among 32 more that wait."""
    one = Desk(honeypots=0.5)
    for made in one.submit(32):
        one.say(made, Action.APPROVE, by="ann")
    one.sweep()
    one.submit(32)
    one.sweep()
    yield one
    one.close()


def verdict(desk: Desk) -> Certificate | Uncertified:
    (one,) = desk.run(desk.services.recalibrator.recalibrate()).slices
    found: Certificate | Uncertified = one.verdict
    return found


def introduced(desk: Desk, word: str) -> None:
    """Let the slice report missed errors, or certify for them."""
    stored = desk.services.policies
    policy = desk.run(stored.propose(POLICY.format(use=word))).policy
    desk.run(stored.activate(policy.hash, by="ann"))


def notice(desk: Desk, errors: int) -> None:
    """Let Ann reject so many of the planted errors."""
    planted = desk.honeypots()
    assert len(planted) >= errors
    for one in planted[:errors]:
        desk.say(one.id, Action.REJECT, by="ann")


def test_enough_planted_errors_certify(desk: Desk) -> None:
    """The certificate says on which planted errors it rests; without any there is none."""
    introduced(desk, "certify")
    none = verdict(desk)
    assert isinstance(none, Uncertified)
    assert none.reason is NoCertificate.MISSED_ERRORS
    assert "no planted error has been shown" in none.message
    planted = len(desk.honeypots())
    notice(desk, planted)
    found = verdict(desk)
    assert isinstance(found, Certificate)
    assert found.missed_errors is not None
    assert (found.missed_errors.caught, found.missed_errors.shown) == (planted, planted)
    assert (found.target, found.delta) == (0.8, 0.2)
    (report,) = desk.run(desk.services.reporter.report()).slices
    assert "That allows for missed errors" in report.sentence
    assert report.precision.found.detection.caught == planted


def test_a_certificate_at_face_value_ends_where_more_is_asked(desk: Desk) -> None:
    """What was certified from labels alone does not hold once the policy asks for the truth."""
    introduced(desk, "report")
    calibration = desk.run(desk.services.recalibrator.recalibrate())
    assert calibration.slices[0].certificate is not None
    desk.run(desk.services.recalibrator.activate(calibration.id, by="ann"))

    def absent() -> str | None:
        now = desk.clock.now()
        current = desk.run(desk.services.currents.latest("replies"))
        found: str | None = current.threshold(Stakes.REVERSIBLE, now).absent
        return found

    assert absent() is None
    introduced(desk, "certify")
    assert absent() == "target_raised"
    notice(desk, len(desk.honeypots()))
    calibration = desk.run(desk.services.recalibrator.recalibrate())
    desk.run(desk.services.recalibrator.activate(calibration.id, by="ann"))
    assert absent() is None
