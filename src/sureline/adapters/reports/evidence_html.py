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
_MOMENTS = {"when", "at", "opened_at", "closed_at", "started_at", "finished_at"}
_HASH = 64


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
            "held": [_shown(row) for row in rows[HELD]],
            "calibrations": [_calibration(row) for row in rows[CALIBRATIONS]],
            "activations": [_shown(row) for row in rows["activations.jsonl"]],
            "switches": [_shown(row) for row in rows["switches.jsonl"]],
            "incidents": [_shown(row) for row in rows[INCIDENTS]],
            "recalls": [_shown(row) for row in rows[RECALLS]],
            "missions": [_shown(row) for row in rows["missions.jsonl"]],
            "erasures": [_shown(row) for row in rows["erasures.jsonl"]],
            "audits": {"right": audits.count(1), "wrong": audits.count(0)},
            "most": MOST_ROWS,
        },
    )


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its moments to the second, its hashes short, and its switch in a word."""
    found = dict(row)
    for name in _MOMENTS & found.keys():
        found[name] = str(found[name])[:19].replace("T", " ")
    if len(str(found.get("subject", ""))) == _HASH:
        found["subject"] = str(found["subject"])[:16]
    if "on" in found:
        found["on"] = "off" if found["on"] == 0 else "on"
    return found


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
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        certificates = []
    return {"id": row.get("id"), "certificates": certificates}
