"""Reports as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sureline.adapters.reports.drawing import FIGURES_CSS, FOLDER, curve_floor, teach
from sureline.application.report import ReportData
from sureline.core.hidden_text import LINES, spelled


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
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=shown_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    teach(environment)
    style = "".join(
        file.read_text(encoding="utf-8") for file in (FOLDER / "report.css", FIGURES_CSS)
    )
    html = environment.get_template(template).render(**values, style=style)
    return html.replace(" %", "\N{NO-BREAK SPACE}%")


def shown_value(value: Any) -> Any:
    """Return a value of a template with what hides in a text spelled out; markup stays."""
    return spelled(value, keep=LINES) if type(value) is str else value
