"""How runs of the canaries are compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sureline.application.canary_history import trails, why
from sureline.core.opinions.canary import FailureMode
from sureline.core.opinions.canary_run import LINE, CanaryRun, CanaryScore, Evaluator


def run(score: float | None, *, answered: str | None = "m-1", deductions: str = "d") -> CanaryRun:
    """Return a run in which every canary got this score."""
    modes = [FailureMode.INVENTED] * 20 + [None] * 10
    return CanaryRun(
        id="run",
        evaluator=Evaluator(
            role="judge", asked="p:m", answered=answered, prompt="hash", deductions=deductions
        ),
        identity="identity",
        seed="seed",
        line=LINE,
        at=datetime(2026, 1, 5, tzinfo=UTC),
        scores=tuple(
            CanaryScore(id=f"c{n}", mode=mode, score=score, reason="timeout")
            for n, mode in enumerate(modes)
        ),
        answers=() if answered is None else (answered,),
    )


LOST = run(None, answered=None)


@pytest.mark.parametrize(
    ("runs", "changed", "compared"),
    [
        pytest.param((run(0.1),), [()], [False], id="the first"),
        pytest.param((run(0.1), run(0.1)), [(), ()], [False, True], id="alike"),
        pytest.param((run(0.1), LOST), [(), ()], [False, False], id="nothing measured"),
        pytest.param((LOST, run(0.1)), [(), ()], [False, False], id="after nothing"),
        pytest.param(
            (run(0.1), LOST, run(0.1, deductions="e")),
            [(), (), ("deductions",)],
            [False, False, True],
            id="compared across an outage",
        ),
        pytest.param(
            (run(0.1), run(0.1, answered="m-2")),
            [(), ("answered",)],
            [False, True],
            id="another model",
        ),
    ],
)
def test_a_run_that_measured_nothing_is_compared_with_nothing(
    runs: tuple[CanaryRun, ...], changed: list[tuple[str, ...]], compared: list[bool]
) -> None:
    """Its row is blank, and the next run is compared with the latest that measured anything."""
    (trail,) = trails(runs)
    assert [point.changed for point in trail.points] == changed
    assert [point.bad_change is not None for point in trail.points] == compared
    assert [point.good_change is not None for point in trail.points] == compared


def test_runs_that_measured_other_canaries_are_not_compared() -> None:
    """Without a canary in both there is no p, rather than one of 1."""
    bad, good = run(0.1), run(0.1)
    only_bad = replace(
        bad, scores=tuple(one if one.mode else replace(one, score=None) for one in bad.scores)
    )
    (trail,) = trails((good, only_bad))
    assert trail.points[1].bad_change is not None
    assert trail.points[1].good_change is None


def test_the_canaries_let_pass_are_named_up_to_three() -> None:
    """A sentence stays one line; the JSON has them all."""
    assert why(run(1.0)) == "let 20 of 20 bad ones pass (c0, c1, c2 and 17 more)"
