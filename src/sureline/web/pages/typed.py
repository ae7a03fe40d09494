"""Read a form of fields back into the draft that it was made from."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sureline.core.checks.paths import ABSENT
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput
from sureline.web.pages.draft import DraftField, FieldKind, Steps, placed

NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,399})(\.[0-9]{1,399})?([eE][+-]?[0-9]{1,4})?")
_TEXTS = frozenset({FieldKind.LINE, FieldKind.LINES, FieldKind.DATE})


def edited_output(output: Any, fields: Sequence[DraftField], form: Mapping[str, str]) -> Any:
    """Return the output as it was typed; fields that did not come back stay as they are.

    Raises InvalidInput naming all fields that are wrong and what was expected there.
    """
    changes: dict[Steps, Any] = {}
    faults: dict[str, str] = {}
    for field in fields:
        text = unified(form.get(field.name, field.text))
        if text == unified(field.text) and (not text or _is_of_kind(field)):
            continue
        try:
            value = _read(field, text)
        except InvalidInput as error:
            faults[field.path] = error.message
            continue
        if value is not field.value:
            changes[field.steps] = value
    if faults:
        raise InvalidInput("; ".join(f"{at}: {said}" for at, said in faults.items()), faults=faults)
    return placed(output, changes)


def unified(text: str) -> str:
    """Return a text with the line ends that it had before a browser sent it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(text: str, field: str | None = None) -> Any:
    """Read one JSON value, strictly. Raises InvalidInput naming `field`."""
    try:
        return strict_json(text)
    except ValueError as error:
        raise InvalidInput(f"expected JSON: {error}", field=field) from None


def _is_of_kind(field: DraftField) -> bool:
    """Tell whether the present value has the type that its input gives."""
    if field.kind is FieldKind.NUMBER:
        return isinstance(field.value, (int, float)) and not isinstance(field.value, bool)
    return field.kind is not FieldKind.BOOLEAN or isinstance(field.value, bool)


def _read(field: DraftField, text: str) -> Any:
    if text == "" and (field.kind not in _TEXTS or field.value in (None, ABSENT)):
        return _emptied(field)
    if field.kind in _TEXTS:
        return text
    if field.kind is FieldKind.NUMBER:
        return _number(text)
    if field.kind is FieldKind.JSON:
        return read_json(text)
    if text not in field.choices:
        raise InvalidInput("expected one of the choices")
    return json.loads(text)


def _emptied(field: DraftField) -> Any:
    if field.value in (None, ABSENT):
        return field.value
    if field.part.is_nullable:
        return None
    if not field.part.is_required:
        return ABSENT
    raise InvalidInput(f"expected a {field.kind}, got nothing")


def _number(text: str) -> int | float:
    if NUMBER.fullmatch(text.strip()):
        value: int | float = json.loads(text)
        if math.isfinite(value):
            return value
    raise InvalidInput("expected a number such as 1240.5")
