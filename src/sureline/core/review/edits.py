"""Which fields an edit changed: found by us, never listed by whoever edited (R6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sureline.core.checks.paths import render_path

WHOLE = "$"
"""Stands for an output that has no fields."""


def edited_fields(before: Any, after: Any) -> tuple[str, ...]:
    """Return the dotted paths at which two JSON values differ, in order.

    Lists are compared by position; a value of another type differs as a whole. 3 and 3.0 are
    equal, 3 and "3" or true and 1 are not.
    """
    return tuple(dict.fromkeys(render_path(steps) or WHOLE for steps in _differing(before, after)))


def _differing(
    before: Any, after: Any, at: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key in before and key in after:
                yield from _differing(before[key], after[key], (*at, key))
            else:
                yield (*at, key)
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            if index < min(len(before), len(after)):
                yield from _differing(before[index], after[index], (*at, index))
            else:
                yield (*at, index)
    elif isinstance(before, bool) is not isinstance(after, bool) or before != after:
        yield at
