"""Figures of a benchmark: printed as a table, or as JSON for another program."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from page import Section, show


def hand_out(sections: Sequence[Section], *, as_json: bool, seconds: float) -> None:
    """Print tables, or one JSON object with all of them."""
    if not as_json:
        show(sections, seconds)
        return
    print(json.dumps({"machine": machine(), "seconds": seconds, "tables": tables(sections)}))


def tables(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Return tables as JSON values."""
    return [
        {"title": one.title, "note": one.note, "heading": one.heading, "rows": one.rows}
        for one in sections
    ]


def sections_of(said: str) -> list[Section]:
    """Read the tables that another benchmark printed as JSON; they are on the last line."""
    found = json.loads(said.strip().splitlines()[-1])
    return [
        Section(
            title=one["title"],
            note=one["note"],
            heading=tuple(one["heading"]),
            rows=tuple(tuple(row) for row in one["rows"]),
        )
        for one in found["tables"]
    ]


def machine() -> str:
    """Say what the figures were taken on, in a few words."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
