"""Fill the pages' templates: everything is escaped, see `shown_text` for what others wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sureline.bootstrap import drawing
from sureline.core.hidden_text import spelled
from sureline.web.pages.assets import asset_path
from sureline.web.pages.shown_text import brief, marked, shown


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of this folder."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", drawing.FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawing.teach(environment)
    environment.filters |= {
        "shown": shown,
        "spelled": spelled,
        "marked": marked,
        "brief": brief,
        "as_json": as_json,
        "one_line": one_line,
        "percent": percent,
        "moment": moment,
        "clock_time": clock_time,
        "span": span,
        "step": step,
        "choice": choice,
    }
    environment.globals["asset"] = asset_path
    return environment


def as_json(value: object) -> str:
    """Return a JSON value as indented text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def one_line(value: object) -> str:
    """Return a JSON value as text on one line."""
    return json.dumps(value, ensure_ascii=False)


def step(text: object) -> str:
    """Return a text as one step of an address, whatever is in it."""
    return quote(str(text).encode("utf-8", "replace"), safe="")


def choice(written: str) -> str:
    """Return how a choice, given as JSON, is called: a text without its quotes."""
    value = json.loads(written) if written else "–"
    return value if isinstance(value, str) else written


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, and nothing measured as a dash."""
    return "–" if share is None else f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def moment(at: datetime | None) -> str:
    """Write a moment in UTC, and none as a dash."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def clock_time(at: datetime) -> str:
    """Write the time of day in UTC, to the second."""
    return f"{at:%H:%M:%S} UTC"


def span(length: timedelta) -> str:
    """Write how long something is, in its largest unit: 45 s, 12 min, 3 h, 2 days."""
    seconds = max(0, int(length.total_seconds()))
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size or (unit != "days" and seconds >= size):
            return f"{seconds // size}\N{NO-BREAK SPACE}{unit}"
    return f"{seconds}\N{NO-BREAK SPACE}s"
