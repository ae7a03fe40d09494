"""Dotted paths into an output: `vendor`, `lines[0].amount`, `lines[].amount` for each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from sureline.errors import PolicyError


class Step(Enum):
    """A step of a path that is neither a key nor an index."""

    EACH = "[]"
    """Every item of a list."""


class Absent(Enum):
    """What stands where a path leads nowhere."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    type(None): "null",
}

Path = tuple[str | int | Step, ...]

_PART = re.compile(r"(?:^|\.)([^.\[\]]+)|\[(\d{0,9})\]")


def parse_path(text: str) -> Path:
    """Read a dotted path. Raises PolicyError when it is none."""
    steps: list[str | int | Step] = []
    end = 0
    while end < len(text):
        found = _PART.match(text, end)
        if found is None:
            break
        key, index = found.groups()
        steps.append(key if key is not None else int(index) if index else Step.EACH)
        end = found.end()
    if not steps or end != len(text):
        raise PolicyError(f"field {text!r}: expected a path such as `lines[0].amount`")
    return tuple(steps)


def render_path(steps: Sequence[str | int]) -> str | None:
    """Write steps as a dotted path; None for the whole output."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or None


def walk(
    value: object, path: Path, where: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | None, object]]:
    """Yield the dotted path and value of everything that `path` leads to.

    ABSENT is yielded once where a key, an index or a list is missing, and for an empty list
    under `[]`: emptying a list is no way around a rule.
    """
    if not path:
        yield render_path(where), value
        return
    step, rest = path[0], path[1:]
    if step is Step.EACH:
        if isinstance(value, list) and value:
            for index, item in enumerate(value):
                yield from walk(item, rest, (*where, index))
            return
    elif isinstance(step, str):
        if isinstance(value, dict) and step in value:
            yield from walk(value[step], rest, (*where, step))
            return
    elif isinstance(value, list) and step < len(value):
        yield from walk(value[step], rest, (*where, step))
        return
    yield _expected(where, path), ABSENT


def _expected(where: tuple[str | int, ...], rest: Path) -> str:
    """Write the path that was looked for, with `[]` where any item was meant."""
    text = render_path(where) or ""
    for step in rest:
        if isinstance(step, str):
            text += f".{step}" if text else step
        else:
            text += "[]" if isinstance(step, Step) else f"[{step}]"
    return text


def describe(value: object) -> str:
    """Name a JSON value's type in plain words."""
    return _TYPE_NAMES.get(type(value), "a number")
