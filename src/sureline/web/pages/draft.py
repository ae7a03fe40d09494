"""A draft as a typed form, made from its JSON and the slice's schema, and read back.

Nothing but what was typed changes: a field that comes back as it was keeps its value and its type
exactly, a number stays a number, and an integer of any size stays exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from sureline.core.checks.paths import ABSENT, render_path
from sureline.web.pages.schema_part import SchemaPart, part_of
from sureline.web.pages.shown_text import hides

MOST_FIELDS = 100
DEEPEST = 8
LONGEST_LINE = 80
LONGEST_PATH = 300
LONGEST_TEXT = 200_000
"""Characters; beyond, or with more or deeper fields, a draft is edited as JSON or elsewhere."""

Steps = tuple[str | int, ...]


class FieldKind(StrEnum):
    """How a field is edited."""

    LINE = "line"
    LINES = "lines"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    JSON = "json"
    """Anything else, as one JSON value; also a text in which something hides, escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftField:
    """One value of a draft; ABSENT where the schema has a field that the draft leaves out."""

    steps: Steps
    kind: FieldKind
    value: Any
    part: SchemaPart

    @property
    def name(self) -> str:
        """Return the form's name of it: a JSON pointer (RFC 6901)."""
        parts = (str(one).replace("~", "~0").replace("/", "~1") for one in self.steps)
        return "field" + "".join(f"/{one}" for one in parts)

    @property
    def path(self) -> str:
        """Return its dotted path, for people."""
        return render_path(self.steps) or ""

    @property
    def text(self) -> str:
        """Return what its input holds."""
        if self.value is ABSENT or (self.value is None and self.kind is not FieldKind.JSON):
            return ""
        if isinstance(self.value, str) and self.kind not in {FieldKind.JSON, FieldKind.CHOICE}:
            return self.value
        return as_text(self.value)

    @property
    def choices(self) -> tuple[str, ...]:
        """Return what can be chosen, as JSON; the present value is always among it."""
        known = (True, False) if self.kind is FieldKind.BOOLEAN else self.part.choices or ()
        texts = [as_text(one) for one in known]
        can_be_empty = self.value in (None, ABSENT) or self.part.can_be_empty
        return tuple(dict.fromkeys(["", *texts] if can_be_empty else [self.text, *texts]))


def as_text(value: Any) -> str:
    """Return a value as JSON on one line, with what hides in it escaped."""
    written = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if hides(written) else written


def fields_of(output: Any, schema: Mapping[str, Any] | None) -> tuple[DraftField, ...] | None:
    """Return a draft's fields in its order, None where a form of fields would be no help."""
    if not isinstance(output, dict) or not (output or schema):
        return None
    found: list[DraftField] = []
    for one in _walk(output, part_of(schema or {}, schema or {}), ()):
        too_long = len(one.path) > LONGEST_PATH or len(one.text) > LONGEST_TEXT
        if too_long or len(found) >= MOST_FIELDS or len(one.steps) > DEEPEST:
            return None
        found.append(one)
    return tuple(found) or None


def _walk(value: Any, part: SchemaPart, steps: Steps) -> Iterator[DraftField]:
    if len(steps) <= DEEPEST and isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _walk(inner, part.property(key), (*steps, key))
        for key in part.properties:
            if key not in value:
                yield from _walk(ABSENT, part.property(key), (*steps, key))
    elif len(steps) <= DEEPEST and isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _walk(inner, part.item(), (*steps, index))
    else:
        yield DraftField(steps=steps, kind=_kind(value, part), value=value, part=part)


def _kind(value: Any, part: SchemaPart) -> FieldKind:
    if isinstance(value, (dict, list)):
        return FieldKind.JSON
    if part.choices is not None:
        return FieldKind.CHOICE
    if isinstance(value, str) and part.type in {None, "string"}:
        return _text_kind(value, part)
    if isinstance(value, bool) or part.type == "boolean":
        return FieldKind.BOOLEAN
    if isinstance(value, (int, float)) or part.type in {"number", "integer"}:
        return FieldKind.NUMBER
    if part.type == "string":
        return FieldKind.DATE if part.is_date else FieldKind.LINE
    return FieldKind.JSON


def _text_kind(text: str, part: SchemaPart) -> FieldKind:
    if hides(text):
        return FieldKind.JSON
    if part.is_date and _is_date(text):
        return FieldKind.DATE
    return FieldKind.LINES if "\n" in text or len(text) > LONGEST_LINE else FieldKind.LINE


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def placed(output: Any, changes: Mapping[Steps, Any]) -> Any:
    """Return an output with values put at their places; ABSENT takes one away."""
    whole = deepcopy(output)
    for steps, value in changes.items():
        at = whole
        for step in steps[:-1]:
            at = at[step]
        if value is ABSENT:
            at.pop(steps[-1], None)
        else:
            at[steps[-1]] = value
    return whole
