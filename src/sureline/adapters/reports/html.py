"""Reports as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sureline.application.report import Curve, ReportData
from sureline.core.values.threshold_text import threshold_text

_TEMPLATES = Path(__file__).parent / "templates"
_FLOORS = (0.95, 0.9, 0.8, 0.7, 0.5)


def render_html(data: ReportData) -> str:
    """Return the report as a complete HTML document; every text in `data` is escaped."""
    floor = curve_floor(data.curves, data.headline.target)
    return render("report.html.j2", {"report": data, "floor": floor})


def write_html(data: ReportData, path: Path) -> None:
    """Write the report to `path`, whose folder must exist."""
    path.write_text(render_html(data), encoding="utf-8")


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of this folder; every text in `values` is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["places"] = places
    environment.filters["thin"] = thin
    environment.filters["threshold"] = threshold_text
    environment.globals["curve_floor"] = curve_floor
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    html = environment.get_template(template).render(**values, style=style)
    return html.replace(" %", "\N{NO-BREAK SPACE}%")


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
