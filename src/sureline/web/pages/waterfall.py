"""How the signals make the composite: the places of the bars of a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LEFT, WIDTH, ROW = 100, 200, 26
"""Where the bars begin, how long one of 1 is, and how high a row is, in the drawing's units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar; `starts` and `ends` are in [0, 1] on the scale of the composite."""

    label: str
    figure: str
    starts: float
    ends: float
    row: int
    is_total: bool = False

    @property
    def x(self) -> float:
        """Where it begins, in the drawing's units."""
        return round(LEFT + WIDTH * self.starts, 1)

    @property
    def width(self) -> float:
        """How long it is."""
        return round(max(1.0, WIDTH * (self.ends - self.starts)), 1)

    @property
    def y(self) -> int:
        """Where its row begins."""
        return ROW * self.row + 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """The bars of the measured signals that have a weight, one below the other, and their sum."""

    bars: tuple[Bar, ...]
    threshold: float | None

    @property
    def height(self) -> int:
        """How high the drawing is."""
        return ROW * len(self.bars) + 26

    @property
    def limit(self) -> float | None:
        """Where the threshold's line stands."""
        return None if self.threshold is None else round(LEFT + WIDTH * self.threshold, 1)

    @property
    def limit_anchor(self) -> str:
        """On which side of the line its word has room."""
        return "end" if (self.threshold or 0.0) > 0.5 else "start"


def waterfall(decision: Mapping[str, Any], weights: Mapping[str, float]) -> Waterfall | None:
    """Return the drawing of a recorded decision, None where nothing was composed.

    Each bar is as long as what its signal adds: weight times value, over the sum of the weights
    of all that were measured. What was measured before an edit adds nothing to the edit's.
    """
    composite = decision.get("composite")
    measured = {
        name: one["value"]
        for name, one in decision.get("signals", {}).items()
        if one.get("value") is not None and weights.get(name, 0) > 0 and not one.get("before_edit")
    }
    if composite is None or not measured:
        return None
    total = sum(weights[name] for name in measured)
    bars: list[Bar] = []
    at = 0.0
    for name, value in measured.items():
        share = weights[name] / total
        ends = at + share * value
        figure = f"{value:.3f} × {share:.0%}"
        bars.append(Bar(label=name, figure=figure, starts=at, ends=ends, row=len(bars)))
        at = ends
    bars.append(_total("together", composite, len(bars)))
    if decision.get("calibrated") is not None:
        bars.append(_total("calibrated", decision["calibrated"], len(bars)))
    return Waterfall(bars=tuple(bars), threshold=decision.get("threshold"))


def _total(label: str, value: float, row: int) -> Bar:
    return Bar(label=label, figure=f"{value:.3f}", starts=0.0, ends=value, row=row, is_total=True)
