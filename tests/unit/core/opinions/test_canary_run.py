"""How a run ends: one bad canary let pass fails it, and what is unknown passes nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.opinions.canary import FailureMode
from sureline.core.opinions.canary_record import run_from_record, run_record
from sureline.core.opinions.canary_run import (
    LINE,
    CanaryOutcome,
    CanaryRun,
    CanaryScore,
    Evaluator,
)

Scores = list[float | None]


def a_run(
    bad: Scores, good: Scores, *, line: float = LINE, answers: tuple[str, ...] = ("m-1",)
) -> CanaryRun:
    """Return a run with these scores, in order."""
    sides = [(f"bad{n}", FailureMode.INVENTED, score) for n, score in enumerate(bad)]
    sides += [(f"good{n}", None, score) for n, score in enumerate(good)]  # type: ignore[misc]
    return CanaryRun(
        id="run",
        evaluator=Evaluator(role="judge", asked="p:m", answered="m-1", prompt="hash"),
        identity="identity",
        seed="seed",
        line=line,
        at=datetime(2026, 1, 5, tzinfo=UTC),
        scores=tuple(
            CanaryScore(id=name, mode=mode, score=score, reason=None if score else "timeout")
            for name, mode, score in sides
        ),
        answers=answers,
    )


@pytest.mark.parametrize(
    ("bad", "good", "outcome"),
    [
        ([0.0] * 20, [1.0] * 10, "passed"),
        ([0.0] * 19 + [0.79], [1.0] * 10, "passed"),
        ([0.0] * 19 + [0.80], [1.0] * 10, "failed"),
        ([0.0] * 20, [1.0] * 5 + [0.0] * 5, "passed"),
        ([0.0] * 20, [1.0] * 4 + [0.0] * 6, "failed"),
        ([0.0] * 16 + [None] * 4, [1.0] * 10, "passed"),
        ([0.0] * 15 + [None] * 5, [1.0] * 10, "incomplete"),
        ([0.0] * 20, [1.0] * 8 + [None] * 2, "passed"),
        ([0.0] * 20, [1.0] * 4 + [0.0] * 5 + [None], "incomplete"),
        ([0.0] * 20, [1.0] * 7 + [None] * 3, "incomplete"),
        ([None] * 20, [None] * 10, "incomplete"),
        ([None] * 19 + [1.0], [None] * 10, "failed"),
        ([], [], "incomplete"),
        ([0.0] * 20, [], "incomplete"),
    ],
    ids=[
        "all-told",
        "just-below-the-line",
        "on-the-line",
        "half-of-the-good-fall",
        "more-than-half-fall",
        "a-fifth-of-the-bad-unknown",
        "more-of-the-bad-unknown",
        "a-fifth-of-the-good-unknown",
        "half-fall-and-one-is-unknown",
        "more-of-the-good-unknown",
        "nothing-known",
        "one-let-pass-is-enough",
        "no-canaries",
        "no-good-ones",
    ],
)
def test_how_a_run_ends(bad: Scores, good: Scores, outcome: str) -> None:
    """The table of outcomes."""
    assert a_run(bad, good).outcome == outcome


def test_several_models_are_no_evaluator_that_could_be_named() -> None:
    """Where two ids answered, the run vouches for neither."""
    run = a_run([0.0] * 20, [1.0] * 10, answers=("m-1", "m-2"))
    assert (run.outcome, run.unknown_why) == (CanaryOutcome.INCOMPLETE, "several_models")


@pytest.mark.parametrize(("line", "counts"), [(LINE, True), (0.9, False), (0.5, False)])
def test_a_run_at_another_line_does_not_count(line: float, counts: bool) -> None:
    """A line of one's own is for looking, not for passing."""
    assert a_run([0.0] * 20, [1.0] * 10, line=line).counts is counts


SIDE = st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=20)


@given(SIDE, SIDE)
def test_losing_a_score_never_helps(bad: Scores, good: Scores) -> None:
    """No run passes because the score of a good one was lost, or all scores of the bad ones."""
    run = a_run(bad, good)
    if run.outcome is not CanaryOutcome.PASSED:
        for place in range(len(good)):
            less = [None if n == place else one for n, one in enumerate(good)]
            assert a_run(bad, less).outcome is not CanaryOutcome.PASSED
    assert a_run([None] * len(bad), good).outcome is not CanaryOutcome.PASSED
    if run.caught_out:
        assert run.outcome is CanaryOutcome.FAILED


@given(SIDE, SIDE)
def test_a_run_survives_its_record(bad: Scores, good: Scores) -> None:
    """What is stored reads back as what was."""
    run = a_run(bad, good)
    assert run_from_record(run_record(run)) == run
