"""Fill the pages' templates: everything is escaped, and what hides itself is shown as such."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sureline.bootstrap import drawing
from sureline.web.pages.assets import asset_path

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_KEPT = frozenset("\n\t")


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
        "as_json": as_json,
        "percent": percent,
        "moment": moment,
    }
    environment.globals["asset"] = asset_path
    return environment


def shown(text: object) -> Markup:
    """Return an agent's text for a page: escaped, and marks that steer or hide text spelled out.

    Bidirectional overrides, zero-width and control characters, and tags are shown by their code,
    so that what a reviewer reads is what is there (R13).
    """
    parts = []
    for character in str(text):
        if character in _KEPT or unicodedata.category(character) not in _HIDDEN:
            parts.append(escape(character))
        else:
            parts.append(Markup('<span class="hidden-mark">U+{:04X}</span>').format(ord(character)))
    return Markup("").join(parts)


def as_json(value: object) -> str:
    """Return a JSON value as indented text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, and nothing measured as a dash."""
    return "–" if share is None else f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def moment(at: datetime | None) -> str:
    """Write a moment in UTC, and none as a dash."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
