"""YAML text to a tree with places, without the traps of YAML 1.1.

Only `true` and `false` are booleans; `on`, `off`, `yes` and `no` stay text; numbers are decimal;
dates stay text until a date is expected. Tags, merge keys, repeated keys and several documents
are refused; anchors are followed up to a size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.tree import Node, Place, Scalar
from sureline.errors import PolicyError

MAX_BYTES = 1024 * 1024
MAX_NODES = 50_000
MAX_DEPTH = 64
MAX_DIGITS = 40

_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, Scalar] = {
    "true": True,
    "false": False,
    "null": None,
    "~": None,
    "": None,
    ".nan": float("nan"),
    ".inf": float("inf"),
    "-.inf": float("-inf"),
}
_PLAIN_WORDS = (
    (
        "cannot start any token",
        "this character cannot stand here; indent with spaces, not tabs, "
        "and put quotes round texts that start with @, `, % or similar",
    ),
    (
        "mapping values are not allowed",
        "a colon stands where none is expected; put quotes round "
        "a text with a colon in it, or check the indentation",
    ),
    ("expected <block end>", "the indentation does not match the lines above"),
    ("could not find expected ':'", "a colon and a value are missing after this key"),
    ("expected ',' or", "a bracket or brace is not closed, or a comma is missing"),
    ("while scanning a quoted", "a quote is not closed"),
    ("undefined alias", "this alias (*) names no anchor (&) above it"),
)


def read_tree(text: str, file: str, faults: Faults, *, first: str = "slices") -> Node:
    """Read one YAML document, which must have a key such as `first`.

    Repeated keys, tags and keys that are no text go to `faults`; what makes the rest unreadable
    (syntax, size, depth, an empty file) raises PolicyError with file, line and column.
    """
    return _Builder(text, file, faults, first).build()


def decoded(data: bytes, file: str) -> str:
    """Return a file's text. Raises PolicyError if it is too large or no UTF-8."""
    if len(data) > MAX_BYTES:
        raise PolicyError(f"{file}:1:1: the file is larger than 1 MiB ({len(data)} bytes)")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        raise PolicyError(
            f"{file}:{line}:{column}: the file is not UTF-8 text; save it as UTF-8"
        ) from error


class _Builder:
    """Builds the tree from parser events, which lets size and depth stop it early."""

    def __init__(self, text: str, file: str, faults: Faults, first: str) -> None:
        self._text = text
        self._first = first
        self._file = file
        self._start = Place(file, 1, 1)
        self._faults = faults
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._size = 0
        self._events: Iterator[yaml.Event] = iter(())

    def build(self) -> Node:
        if len(self._text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise PolicyError(f"{self._file}:1:1: the file is larger than 1 MiB")
        self._events = yaml.parse(self._text, Loader=yaml.SafeLoader)
        try:
            return self._document()
        except yaml.YAMLError as error:
            raise PolicyError(self._syntax(error)) from error

    def _document(self) -> Node:
        event = next(self._events)
        while isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            raise PolicyError(
                f"{self._file}:1:1: the file is empty; expected at least `{self._first}:`"
            )
        root = self._node(event, "", 0, None)
        for later in self._events:
            if isinstance(later, yaml.DocumentStartEvent):
                raise PolicyError(f"{self._place(later)}: a second document (---) in one file")
        return root

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        return Place(self._file, mark.line + 1, mark.column + 1) if mark else self._start

    def _node(self, event: yaml.Event, path: str, depth: int, key_place: Place | None) -> Node:
        if depth > MAX_DEPTH:
            raise PolicyError(f"{self._place(event)}: {path[:80]}: nested deeper than {MAX_DEPTH}")
        before = self._size
        self._grow(1, event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        place = self._place(event)
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            self._faults.add_unreadable(
                place, path, f'tags such as "{tag}" are not read; remove it'
            )
        value = self._value(event, path, depth)
        node = Node(value=value, place=place, path=path, key_place=key_place)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = (node, self._size - before)
        return node

    def _value(
        self, event: yaml.Event, path: str, depth: int
    ) -> Scalar | tuple[Node, ...] | dict[str, Node]:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        return self._mapping(path, depth)

    def _grow(self, count: int, event: yaml.Event) -> None:
        self._size += count
        if self._size > MAX_NODES:
            raise PolicyError(
                f"{self._place(event)}: more than {MAX_NODES} values, aliases counted in full"
            )

    def _alias(self, event: yaml.AliasEvent) -> Node:
        found = self._anchors.get(str(event.anchor))
        if found is None:
            raise PolicyError(
                f"{self._place(event)}: the alias *{event.anchor} names no finished anchor above it"
            )
        self._grow(found[1], event)
        return found[0]

    def _scalar(self, event: yaml.ScalarEvent, path: str) -> Scalar:
        text = self._joined(event, path)
        if event.style is not None or event.tag is not None:
            return text
        if text in _WORDS:
            return _WORDS[text]
        whole, decimal = _INTEGER.match(text), _DECIMAL.match(text)
        if (whole or decimal) and len(text) > MAX_DIGITS:
            digits = f"the number has too many digits; at most {MAX_DIGITS} are read"
            self._faults.add_unreadable(self._place(event), path, digits)
            return None
        if whole:
            return int(text)
        return float(text) if decimal else text

    def _joined(self, event: yaml.ScalarEvent, path: str) -> str:
        """Return a text whose characters are whole: JSON writes those beyond U+FFFF as two."""
        text = str(event.value)
        if not _SURROGATE.search(text):
            return text
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if "\ufffd" in text:
            half = "this text holds half a character (a lone surrogate)"
            self._faults.add_unreadable(self._place(event), path, half)
        return text

    def _sequence(self, path: str, depth: int) -> tuple[Node, ...]:
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, f"{path}[{len(items)}]", depth + 1, None))
        return tuple(items)

    def _mapping(self, path: str, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key_place = self._place(event)
            key = self._key(event, path, depth)
            below = f"{path}.{key}" if path else key
            node = self._node(next(self._events), below, depth + 1, key_place)
            if key in entries:
                first = entries[key].key_place or entries[key].place
                self._faults.add_at(
                    key_place, below, f'the key "{key}" is here again; first in line {first.line}'
                )
            elif key == "<<":
                self._faults.add_at(key_place, below, "merge keys (<<) are not read; use defaults")
            else:
                entries[key] = node
        return entries

    def _key(self, event: yaml.Event, path: str, depth: int) -> str:
        if isinstance(event, yaml.ScalarEvent):
            return self._joined(event, path)
        node = self._node(event, path, depth + 1, None)
        self._faults.add(node, "a key must be a plain text")
        return f"(key at {node.place.line}:{node.place.column})"

    def _syntax(self, error: yaml.YAMLError) -> str:
        if isinstance(error, yaml.MarkedYAMLError):
            mark = error.problem_mark or error.context_mark
            told = f"{error.context or ''} {error.problem or ''}"
            plain = next((words for sign, words in _PLAIN_WORDS if sign in told), error.problem)
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            return f"{self._file}:{line}:{column}: this cannot be read as YAML: {plain}"
        position = getattr(error, "position", 0)
        before = self._text[:position]
        line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
        return f"{self._file}:{line}:{column}: a control character that YAML does not allow"
