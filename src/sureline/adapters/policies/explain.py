"""What pydantic objects to, in words that name the place, the key and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from sureline.adapters.policies.faults import Faults, shown, unknown_key
from sureline.adapters.policies.setting import Settings, expected_of, settings_in
from sureline.adapters.policies.tree import Node

Steps = Sequence[str | int]
S = TypeVar("S", bound=Settings)


def validated(model: type[S], node: Node, faults: Faults) -> S | None:
    """Return the settings in `node`, or None after telling `faults` all that is wrong."""
    try:
        return model.model_validate(node.plain())
    except ValidationError as error:
        explain(error, model, node, faults)
        return None


def explain(
    error: ValidationError,
    model: type[Settings],
    node: Node,
    faults: Faults,
    *,
    partial: bool = False,
) -> set[str]:
    """Tell `faults` what is wrong; return the first-level keys concerned.

    `partial` keeps silent about missing keys: defaults may be completed by a slice.
    """
    concerned: set[str] = set()
    for one in error.errors(include_url=False):
        steps = one["loc"]
        concerned.update(str(step) for step in steps[:1])
        field, parent = _declared(model, steps)
        found, whole = node.deepest(steps)
        if one["type"] == "missing":
            if not partial:
                _missing(found, str(steps[-1]), field, faults)
        elif one["type"] == "extra_forbidden":
            faults.add_key(found, unknown_key(str(steps[-1]), parent.model_fields))
        elif one["type"] == "value_error":
            faults.add(found, str(one["ctx"]["error"]))
        elif one["type"].endswith("too_long") and isinstance(one["input"], str):
            most, length = one["ctx"]["max_length"], len(one["input"])
            faults.add(found, f"expected at most {most} characters, found {length}")
        else:
            value = found.plain() if whole else one["input"]
            faults.add(found, _unexpected(field, value, one["msg"]))
    return concerned


def _declared(model: type[Settings], steps: Steps) -> tuple[FieldInfo | None, type[Settings]]:
    """Follow steps through the declarations: the last key met and the mapping it belongs to."""
    parent, below, field = model, model, None
    for step in steps:
        parent = below
        declared = below.model_fields.get(str(step)) if isinstance(step, str) else None
        if declared is None:
            continue
        field = declared
        inner = settings_in(declared.annotation)
        if inner is None:
            break
        below = inner
    return field, parent


def _missing(parent: Node, key: str, field: FieldInfo | None, faults: Faults) -> None:
    expected = f": expected {expected_of(field)}" if field is not None else ""
    faults.add(parent, f'the key "{key}" is missing{expected}')


def _unexpected(field: FieldInfo | None, value: object, message: str) -> str:
    if field is None:
        return message
    expected = expected_of(field)
    return f"expected {expected}, found {shown(value)}{_hint(expected, value)}"


def _hint(expected: str, value: object) -> str:
    if not isinstance(value, str):
        return ""
    if "true or false" in expected and value.lower() in {"yes", "no", "on", "off", "true", "false"}:
        meant = "true" if value.lower() in {"yes", "on", "true"} else "false"
        return f"; write {meant}"
    if "number" in expected and value.strip("+-.0123456789") == "" and any(map(str.isdigit, value)):
        return "; write it without quotes and without leading zeros"
    return ""
