"""A YAML tree that remembers where each value was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value with its place, the place of its key and the dotted path it was written at."""

    value: Scalar | tuple[Node, ...] | Mapping[str, Node]
    place: Place
    path: str
    key_place: Place | None = None

    @property
    def entries(self) -> Mapping[str, Node]:
        """Return the entries of a mapping; anything else has none."""
        return self.value if isinstance(self.value, Mapping) else {}

    def plain(self) -> object:
        """Return the value without places: dict, list or scalar."""
        if isinstance(self.value, Mapping):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value

    def deepest(self, steps: Iterable[str | int]) -> tuple[Node, bool]:
        """Follow keys and indexes as far as they exist; also tell whether all of them did."""
        node = self
        for step in steps:
            child = node._child(step)
            if child is None:
                return node, False
            node = child
        return node, True

    def _child(self, step: str | int) -> Node | None:
        if isinstance(self.value, Mapping):
            return self.value.get(str(step))
        if isinstance(self.value, tuple) and isinstance(step, int) and step < len(self.value):
            return self.value[step]
        return None


REPLACED_WHOLE = frozenset({"weights", "json_schema", "deductions"})
"""Mappings that a slice states in full: a leftover entry from the defaults would surprise."""

EITHER_OR = {
    "weights": "preset",
    "preset": "weights",
    "target_precision": "target_from_cost",
    "target_from_cost": "target_precision",
}
"""Keys of a slice that put aside another key which only the defaults state."""


def merged(base: Node | None, over: Node) -> Node:
    """Lay a slice's settings over the defaults: mappings are merged, all else is replaced.

    A value of null replaces a default too, which is how a slice turns a default off.
    """
    if base is None or not isinstance(base.value, Mapping):
        return over
    if not isinstance(over.value, Mapping):
        return over
    entries = dict(base.value)
    for key in over.value:
        rival = EITHER_OR.get(key)
        if key != "weights" and rival is not None and rival not in over.value:
            entries.pop(rival, None)
    for key, node in over.value.items():
        below = entries.get(key) if key not in REPLACED_WHOLE else None
        entries[key] = merged(below, node)
    return replace(over, value=entries)


def without(node: Node, keys: Iterable[str]) -> Node:
    """Return a mapping without some of its keys."""
    gone = set(keys)
    return replace(node, value={k: v for k, v in node.entries.items() if k not in gone})
