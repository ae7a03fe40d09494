"""How the canaries' scores moved from run to run, and which moves are more than chance (G3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sureline.core.opinions.canary_record import run_record
from sureline.core.opinions.canary_run import CanaryRun, CanaryScore, mean_score
from sureline.core.statistics.paired_change import PairedChange, fewest_moves, paired_change

RATE = 0.05
"""How often at most two runs of an evaluator that stayed the same are said to differ."""

PARTS = ("answered", "prompt", "deductions", "guidance", "temperature")
"""What an opinion depends on beside the role and the name that is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run beside the one before it of the same role and name.

    `bad` and `good` are the mean scores in [0, 1], None where nothing was measured. `changed`
    names what the evaluator has other than before. `bad_change` and `good_change` compare the
    canaries that both runs measured; None for the first run.
    """

    run: CanaryRun
    bad: float | None
    good: float | None
    changed: tuple[str, ...] = ()
    bad_change: PairedChange | None = None
    good_change: PairedChange | None = None

    @property
    def moved(self) -> tuple[str, ...]:
        """Name the sides (`bad`, `good`) whose scores moved by more than chance.

        Each side has half of `RATE`, so that both together keep it.
        """
        sides = (("bad", self.bad_change), ("good", self.good_change))
        return tuple(name for name, one in sides if one is not None and one.p <= RATE / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """All runs of one role and name, oldest first."""

    role: str
    asked: str
    points: tuple[Point, ...]


def trails(runs: Sequence[CanaryRun]) -> tuple[Trail, ...]:
    """Sort runs by role and name, and compare each with the one before it."""
    found: dict[tuple[str, str], list[CanaryRun]] = {}
    for run in runs:
        found.setdefault((run.evaluator.role, run.evaluator.asked), []).append(run)
    return tuple(
        Trail(role=role, asked=asked, points=tuple(map(_point, [None, *of], of)))
        for (role, asked), of in sorted(found.items())
    )


def _point(before: CanaryRun | None, run: CanaryRun) -> Point:
    return Point(
        run=run,
        bad=mean_score(run.bad),
        good=mean_score(run.good),
        changed=() if before is None else _changed(before, run),
        bad_change=None if before is None else _change(before.bad, run.bad),
        good_change=None if before is None else _change(before.good, run.good),
    )


def _changed(before: CanaryRun, run: CanaryRun) -> tuple[str, ...]:
    return tuple(
        part for part in PARTS if getattr(before.evaluator, part) != getattr(run.evaluator, part)
    )


def _change(before: Sequence[CanaryScore], after: Sequence[CanaryScore]) -> PairedChange:
    """Compare the canaries that both runs measured, by id.

    Those that are made differ in their figures from run to run. Each run draws them alike, so
    that without a change of the evaluator either order is as likely, which is all the test needs.
    """
    old = {one.id: one.score for one in before if one.score is not None}
    new = {one.id: one.score for one in after if one.score is not None}
    shared = [name for name in old if name in new]
    return paired_change([old[name] for name in shared], [new[name] for name in shared])


def detectable(run: CanaryRun) -> str:
    """Say what a comparison with this run could show at all."""
    said = []
    for name, side in (("bad", run.bad), ("good", run.good)):
        fewest = fewest_moves(len(side), RATE / 2)
        said.append(
            f"no move of the {len(side)} {name} ones can show"
            if fewest is None
            else f"{fewest} of {len(side)} {name} ones"
        )
    return (
        f"a change shows from {' or '.join(said)} on that move one way and none the other; runs of "
        f"an evaluator that stayed the same are said to differ in at most {RATE:.0%} of comparisons"
    )


def trails_json(found: Sequence[Trail]) -> list[dict[str, Any]]:
    """Return the history as JSON values."""
    return [
        {
            "role": trail.role,
            "asked": trail.asked,
            "detectable": detectable(trail.points[-1].run),
            "runs": [_point_json(point) for point in trail.points],
        }
        for trail in found
    ]


def _point_json(point: Point) -> dict[str, Any]:
    return {
        **run_json(point.run),
        "changed": list(point.changed),
        "bad_change": None if point.bad_change is None else asdict(point.bad_change),
        "good_change": None if point.good_change is None else asdict(point.good_change),
        "moved": list(point.moved),
    }


def run_json(run: CanaryRun) -> dict[str, Any]:
    """Return a run with what it showed as JSON values."""
    return {
        **run_record(run),
        "outcome": run.outcome,
        "why": why(run),
        "counts": run.counts,
        "bad_mean": mean_score(run.bad),
        "good_mean": mean_score(run.good),
        "let_pass": [one.id for one in run.caught_out],
        "refused": [one.id for one in run.refused],
        "not_measured": {one.id: one.reason for one in run.unmeasured},
    }


def why(run: CanaryRun) -> str:
    """Say in a sentence what a run showed."""
    bad, good, unknown = len(run.bad), len(run.good), len(run.unmeasured)
    said = []
    if run.caught_out:
        names = ", ".join(one.id for one in run.caught_out)
        said.append(f"let {len(run.caught_out)} of {bad} bad ones pass ({names})")
    if run.refuses_everything:
        said.append(f"refuses everything: {len(run.refused)} of {good} good ones fell")
    if run.unknown_why == "several_models":
        said.append(f"several models answered ({', '.join(run.answers)})")
    if run.unknown_why == "not_measured" and unknown:
        reasons = ", ".join(sorted({one.reason or "unknown" for one in run.unmeasured}))
        said.append(f"{unknown} of {bad + good} were not measured ({reasons})")
    if said:
        return "; ".join(said)
    caught = sum(one.score is not None for one in run.bad)
    passed = sum(one.score is not None for one in run.good) - len(run.refused)
    left = f"; {unknown} were not measured" if unknown else ""
    return f"caught {caught} of {bad} bad ones, let {passed} of {good} good ones pass{left}"
