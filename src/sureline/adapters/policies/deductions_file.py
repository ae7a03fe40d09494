"""Check a list of failure modes, and say what is wrong in words for whoever edits it (G1).

Its author need not be an engineer, so a fault stands at its line in the file that they edit and
calls a failure mode by its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults, shown, unknown_key
from sureline.adapters.policies.model_settings import DeductionSettings, DeductionsFile
from sureline.adapters.policies.tree import Node, Place
from sureline.adapters.policies.yaml_reader import read_tree
from sureline.errors import PolicyError

MOST = 100
"""Failure modes in one list; a model loses its way in a longer one."""
MOST_CHARACTERS = 50_000
"""Of all texts and examples together: they are shown with every output."""

KEY = "deductions"
ENTRY = "an entry with id, points and text"


def read_deductions_file(text: str, file: str, faults: Faults) -> list[dict[str, Any]] | None:
    """Return the failure modes of a file's text, or None after telling `faults` what is wrong."""
    try:
        root = read_tree(text, file, faults, first=KEY)
    except PolicyError as error:
        faults.add_at(*_placed(error.message, file))
        return None
    if isinstance(root.value, tuple):
        faults.add(root, f"expected the line `{KEY}:` above the list")
        return None
    if not root.entries:
        faults.add(root, f"expected `{KEY}:` and a list below it, found {shown(root.plain())}")
        return None
    for key, node in root.entries.items():
        if key != KEY:
            faults.add_key(node, unknown_key(key, DeductionsFile.model_fields))
    given = root.entries.get(KEY)
    if given is None:
        faults.add(root, f'the key "{KEY}" is missing: expected `{KEY}:` and a list below it')
        return None
    return checked_deductions(_named(given), faults)


def checked_deductions(given: Node, faults: Faults) -> list[dict[str, Any]] | None:
    """Return the failure modes of a list, or None after telling `faults` what is wrong."""
    if not isinstance(given.value, tuple):
        words = f"expected a list, each {ENTRY} that starts with `- id:`"
        faults.add(given, f"{words}; found {shown(given.plain())}")
        return None
    if not 1 <= len(given.value) <= MOST:
        count = f"found {len(given.value)}" if given.value else "the list is empty"
        faults.add(given, f"expected 1 to {MOST} failure modes; {count}")
        return None
    found = [_entry(node, faults) for node in given.value]
    _check_ids(given.value, faults)
    length = sum(len(text) for one in found if one for text in (one.text, *one.examples))
    if length > MOST_CHARACTERS:
        words = f"texts and examples have {length} characters, at most {MOST_CHARACTERS} can be"
        faults.add(given, f"{words} shown to a model beside each output; shorten them")
    return None if None in found else [one.model_dump() for one in found if one is not None]


def _entry(node: Node, faults: Faults) -> DeductionSettings | None:
    if not isinstance(node.value, Mapping):
        faults.add(node, f"expected {ENTRY}, found {shown(node.plain())}")
        return None
    return validated(DeductionSettings, node, faults)


def _check_ids(entries: tuple[Node, ...], faults: Faults) -> None:
    first: dict[object, Node] = {}
    for node in entries:
        where = node.entries.get("id")
        if where is None or not isinstance(where.value, str):
            continue
        before = first.setdefault(where.value, where)
        if before is not where:
            words = f'the id "{where.value}" is here again; first in line {before.place.line}'
            faults.add(where, f"{words}: give one of them another id, or remove one")


def _named(given: Node) -> Node:
    """Call each entry by its id instead of its position, which people do not count from 0."""
    if not isinstance(given.value, tuple):
        return given
    return replace(given, value=tuple(_moved(node, name) for name, node in _names(given.value)))


def _names(entries: tuple[Node, ...]) -> Iterator[tuple[str, Node]]:
    for number, node in enumerate(entries, start=1):
        name = node.entries.get("id")
        known = name is not None and isinstance(name.value, str) and name.value.strip()
        yield (str(name.value)[:60] if name is not None and known else f"entry {number}"), node


def _moved(node: Node, path: str) -> Node:
    if isinstance(node.value, Mapping):
        inner = {key: _moved(one, f"{path}.{key}") for key, one in node.value.items()}
        return replace(node, value=inner, path=path)
    if isinstance(node.value, tuple):
        items = tuple(_moved(one, f"{path} {n}") for n, one in enumerate(node.value, start=1))
        return replace(node, value=items, path=path)
    return replace(node, path=path)


def _placed(message: str, file: str) -> tuple[Place, str, str]:
    """Return place, path and words of a message that starts with file, line and column."""
    line, column, words = message.removeprefix(f"{file}:").split(":", 2)
    return Place(file, int(line), int(column)), "", words.strip()
