"""What draws figures and tables: shared by the report files and the pages of the server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sureline.application.report import Curve
from sureline.core.values.threshold_text import threshold_text

FOLDER = Path(__file__).parent / "templates"
"""Where `figures.html.j2`, `tables.html.j2` and `opinions.html.j2` are."""
FIGURES_CSS = FOLDER / "figures.css"
"""The figures' colours and marks, for light and dark."""
_FLOORS = (0.95, 0.9, 0.8, 0.7, 0.5)


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, and nothing measured as a dash."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def places(value: float | None, digits: int = 3) -> str:
    """Write a number with fixed decimals, and nothing measured as a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def thin(rows: Sequence[Any], most: int) -> list[Any]:
    """Keep at most `most` rows, evenly spread, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]


def curve_floor(curves: Sequence[Curve], target: float) -> float:
    """Choose the lowest precision that the risk-coverage figures show, so that all of it fits."""
    shown = [point.precision for curve in curves for point in curve.points]
    lowest = min([*shown, round(target - 0.05, 6)])
    return next((floor for floor in _FLOORS if floor <= lowest), 0.0)


def teach(environment: Any) -> None:
    """Give a template environment what the drawing templates use."""
    environment.filters |= {
        "percent": percent,
        "places": places,
        "thin": thin,
        "threshold": threshold_text,
    }
    environment.globals["curve_floor"] = curve_floor
