"""Samples by keyed hash."""

from __future__ import annotations

from sureline.core.gate.sampling import Purpose, draw, is_sampled
from tests.builders import SECRET

IDS = [f"decision-{number}" for number in range(20_000)]


def test_draws_are_the_same_on_every_machine() -> None:
    """The draw is fixed by secret, purpose and id, to the last bit."""
    assert draw(b"secret", Purpose.AUDIT, "a") == 0.6592488976008638
    assert draw(b"secret", Purpose.JUDGE, "a") != draw(b"secret", Purpose.AUDIT, "a")


def test_draws_are_uniform_and_independent_between_purposes() -> None:
    """Judge and audit samples overlap as often as chance has it."""
    judged = {i for i in IDS if is_sampled(SECRET, Purpose.JUDGE, i, 0.08)}
    audited = {i for i in IDS if is_sampled(SECRET, Purpose.AUDIT, i, 0.05)}
    assert abs(len(judged) / len(IDS) - 0.08) < 0.008
    assert abs(len(audited) / len(IDS) - 0.05) < 0.008
    assert abs(len(judged & audited) / len(IDS) - 0.004) < 0.002


def test_another_secret_draws_another_sample() -> None:
    """Who knows the id but not the secret cannot foresee the draw."""
    agree = sum(
        is_sampled(b"one", Purpose.AUDIT, i, 0.5) == is_sampled(b"two", Purpose.AUDIT, i, 0.5)
        for i in IDS
    )
    assert abs(agree / len(IDS) - 0.5) < 0.02


def test_the_ends_of_the_rate_take_none_and_all() -> None:
    """A rate of 0 samples nothing, a rate of 1 everything."""
    assert not any(is_sampled(SECRET, Purpose.AUDIT, i, 0.0) for i in IDS[:500])
    assert all(is_sampled(SECRET, Purpose.AUDIT, i, 1.0) for i in IDS[:500])
