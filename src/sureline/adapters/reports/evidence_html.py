"""The readable pages of a pack of evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sureline.adapters.reports.drawing import FOLDER
from sureline.adapters.reports.html import render
from sureline.application.evidence import (
    CALIBRATIONS,
    HELD,
    INCIDENTS,
    POLICIES,
    RECALLS,
    Summary,
)
from sureline.core.values.decision import Route

MOST_ROWS = 200
"""Of a list that the page shows; the pack's file has all."""

SHOWN = ("slice_key", "threshold", "target", "delta", "n", "in_band", "correct", "lower_bound")
"""What the page shows of a certificate."""


def evidence_html(summary: Summary) -> str:
    """Return the page as a complete HTML document; every text in it is escaped."""
    rows = summary.rows
    audits = [row.get("correct") for row in rows["audits.jsonl"]]
    return render(
        "evidence.html.j2",
        {
            "pack": summary,
            "routes": list(Route),
            "policies": rows[POLICIES],
            "held": rows[HELD],
            "calibrations": [_calibration(row) for row in rows[CALIBRATIONS]],
            "activations": rows["activations.jsonl"],
            "switches": rows["switches.jsonl"],
            "incidents": rows[INCIDENTS],
            "recalls": rows[RECALLS],
            "erasures": rows["erasures.jsonl"],
            "audits": {"right": audits.count(1), "wrong": audits.count(0)},
            "most": MOST_ROWS,
        },
    )


def evidence_readme(payloads: bool) -> str:
    """Return the page that says what the files show; with `payloads` the sample has what was said.

    It is Markdown, with nothing in it of what was recorded.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("evidence.md.j2").render(payloads=payloads)


def _calibration(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a calibration's certificates, or none where its body is not as it is written now."""
    try:
        entries = json.loads(row["body"])["certificates"]
        certificates = [{name: one.get(name) for name in SHOWN} for one in entries]
    except (ValueError, KeyError, TypeError, AttributeError):
        certificates = []
    return {"id": row.get("id"), "certificates": certificates}
