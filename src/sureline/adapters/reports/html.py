"""A report as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sureline.application.report import ReportData

_TEMPLATES = Path(__file__).parent / "templates"
_FLOORS = (0.95, 0.9, 0.8, 0.7, 0.5)


def render_html(data: ReportData) -> str:
    """Return the report as a complete HTML document; every text in `data` is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["places"] = places
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    template = environment.get_template("report.html.j2")
    return template.render(report=data, style=style, floor=curve_floor(data))


def write_html(data: ReportData, path: Path) -> None:
    """Write the report to `path`, whose folder must exist."""
    path.write_text(render_html(data), encoding="utf-8")


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, and nothing measured as a dash."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def places(value: float | None, digits: int = 3) -> str:
    """Write a number with fixed decimals, and nothing measured as a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def curve_floor(data: ReportData) -> float:
    """Choose the lowest precision that the risk-coverage figure shows, so that all of it fits."""
    shown = [point.precision for curve in data.curves for point in curve.points]
    lowest = min([*shown, round(data.headline.target - 0.05, 6)])
    return next((floor for floor in _FLOORS if floor <= lowest), 0.0)
