"""The calibration report as one HTML file."""

from __future__ import annotations

from pathlib import Path

from sureline.adapters.reports.html import render
from sureline.application.calibration_report import CalibrationReport
from sureline.core.learning.suggestions import Advice
from sureline.core.values.decision import Route
from sureline.errors import InvalidInput

ADVICE = {
    Advice.TIGHTEN: ("Tighten", "too much acts alone, or it can no longer be proven"),
    Advice.REPAIR: ("Repair", "no threshold helps; change the prompt, the generator or a check"),
    Advice.LOOSEN: ("Loosen", "more may act alone, and the labels prove it"),
    Advice.COLLECT: ("Label more", "too few labels to prove anything"),
    Advice.KEEP: ("Leave alone", "all is as it should be"),
}
"""The groups of the summary, in order: heading and meaning."""


def calibration_html(report: CalibrationReport) -> str:
    """Return the report as a complete HTML document; every text in it is escaped."""
    values = {"report": report, "advice": ADVICE, "route_names": list(Route)}
    return render("calibration.html.j2", values)


def write_calibration_html(report: CalibrationReport, path: Path) -> None:
    """Write the report to `path`. Raises InvalidInput where that cannot be."""
    try:
        path.write_text(calibration_html(report), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise InvalidInput(f"{path}: {reason}", field="--html") from error
