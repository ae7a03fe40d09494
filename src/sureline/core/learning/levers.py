"""The three things that a person can turn: threshold, self-report weight, abstain floor (L1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.core.learning.slice_facts import Band, Share
from sureline.core.learning.suggestions import ENOUGH, LOW_APPROVAL
from sureline.core.statistics.curves import CurvePoint
from sureline.core.values.threshold_text import threshold_text

STEP = 0.10
"""How far a lever is moved to show what that does: ten points of coverage, or of score."""
OVERSTATED = 0.05
"""A mean score this far above the share correct promises too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """What one setting does: `now` its value, `up` and `down` what moving it does, `cost` the rest.

    `towards` is the direction that the figures speak for, None where they speak for neither.
    """

    name: str
    now: float | None
    towards: str | None
    up: str
    down: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverFacts:
    """What the levers of one slice rest on.

    `curve` is that of the labels that certify, `band` what is automated (or would be).
    `self_report` is its share of all weights in [0, 1], `gap` the mean score minus the share
    correct, None without labels. Of recent decisions `below_floor` lie below the `floor`; of the
    labels within .1 above and below the floor, so many were right.
    """

    curve: Sequence[CurvePoint]
    band: Band | None
    self_report: float
    gap: float | None
    floor: float
    below_floor: Share
    just_above: Share
    just_below: Share


def levers(facts: LeverFacts) -> tuple[Lever, Lever, Lever]:
    """Return threshold, self-report weight and abstain floor with direction and cost."""
    return _threshold(facts), _self_report(facts), _floor(facts)


def _threshold(facts: LeverFacts) -> Lever:
    band = facts.band
    at = None if band is None else band.coverage
    return Lever(
        name="threshold",
        now=None if band is None else band.threshold,
        towards=None,
        up=_moved(facts.curve, at, -STEP),
        down=_moved(facts.curve, at, STEP),
        cost="Higher: people see more. Lower than certified: what acts there has no proof, and the "
        "policy must say so as a hypothesis.",
    )


def _moved(curve: Sequence[CurvePoint], at: float | None, step: float) -> str:
    """Say what the labels show for a threshold that automates so much more or less."""
    if at is None or not curve:
        return "The labels prove no threshold yet."
    point = min(curve, key=lambda one: abs(one.coverage - (at + step)))
    if (point.coverage - at) * step <= 0:
        return "There is nothing further in this direction."
    return (
        f"{threshold_text(point.threshold)} would take {_percent(point.coverage)} instead of "
        f"{_percent(at)}; of the labels there {_percent(point.precision)} were right."
    )


def _self_report(facts: LeverFacts) -> Lever:
    used = facts.self_report > 0
    overstated = used and facts.gap is not None and facts.gap > OVERSTATED
    return Lever(
        name="self-report weight",
        now=facts.self_report,
        towards="down" if overstated else None,
        up="The score leans more on what the generator says of itself."
        if used
        else "It has no weight here.",
        down="Scores lean more on what was checked."
        + (
            f" They promise {_percent(facts.gap)} too much today."
            if overstated and facts.gap is not None
            else ""
        )
        if used
        else "It has no weight here.",
        cost="It changes what is measured: map and certificate start anew on labels that come "
        "after it. The command sureline weights says first whether learned weights do better.",
    )


def _floor(facts: LeverFacts) -> Lever:
    above, below = facts.just_above, facts.just_below
    towards = None
    if above.whole >= ENOUGH and above.high < LOW_APPROVAL:
        towards = "up"
    elif below.whole >= ENOUGH and below.low > LOW_APPROVAL:
        towards = "down"
    return Lever(
        name="abstain floor",
        now=facts.floor,
        towards=towards,
        up=f"More outputs come without a draft: {_said(above, 'just above')}.",
        down=f"More outputs come with a draft: {_said(below, 'just below')}.",
        cost=f"{_percent(facts.below_floor.value or 0.0)} of the last weeks' outputs lie below it. "
        f"No certificate is touched.",
    )


def _said(share: Share, where: str) -> str:
    if share.value is None:
        return f"there are no labels {where} it"
    return f"{where} it, {share.part} of {share.whole} labels were right"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
