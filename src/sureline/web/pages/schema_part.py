"""What a JSON Schema says about one place of an output, as far as a form needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_STEPS = 16
"""References that are followed; a circle ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaPart:
    """A part of a schema with the schema it is from; an empty one says nothing."""

    root: Mapping[str, Any]
    part: Mapping[str, Any]
    is_required: bool = True
    is_nullable: bool = False

    @property
    def type(self) -> str | None:
        """Return the one type other than null, None where there is none or a choice."""
        types = [one for one in _types(self.part) if one != "null"]
        return types[0] if len(types) == 1 else None

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """Return the values of an enumeration, if they are all scalars."""
        given = [self.part["const"]] if "const" in self.part else self.part.get("enum")
        if not isinstance(given, list) or any(isinstance(one, (dict, list)) for one in given):
            return None
        return tuple(given)

    @property
    def is_date(self) -> bool:
        """Tell whether it is a text that is a date."""
        return self.part.get("format") == "date"

    @property
    def can_be_empty(self) -> bool:
        """Tell whether an empty input can mean something: null, or no field."""
        return self.is_nullable or not self.is_required

    @property
    def title(self) -> str:
        """Return what the schema's author calls it, an empty text where they do not."""
        said = self.part.get("title")
        return said.strip() if isinstance(said, str) else ""

    @property
    def about(self) -> str:
        """Return what the schema's author says about it."""
        said = self.part.get("description")
        return said if isinstance(said, str) else ""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Return the parts of an object's fields."""
        return _mapping(self.part.get("properties"))

    def property(self, key: str) -> SchemaPart:
        """Return what is said about a field of an object."""
        required = self.part.get("required")
        is_required = not isinstance(required, list) or key in required or not self.properties
        return part_of(self.properties.get(key), self.root, is_required=is_required)

    def item(self) -> SchemaPart:
        """Return what is said about each item of a list."""
        return part_of(self.part.get("items"), self.root)


def part_of(part: Any, root: Mapping[str, Any], *, is_required: bool = True) -> SchemaPart:
    """Follow references inside the schema, and see through `this or null`."""
    is_nullable = False
    for _ in range(MOST_STEPS):
        known = _mapping(part)
        is_nullable = is_nullable or "null" in _types(known)
        options = known.get("anyOf", known.get("oneOf"))
        if isinstance(known.get("$ref"), str):
            part = _referred(known["$ref"], root)
        elif isinstance(options, list):
            others = [one for one in map(_mapping, options) if _types(one) != ["null"]]
            if len(others) != 1:
                break
            is_nullable = is_nullable or len(others) < len(options)
            part = others[0]
        else:
            break
    return SchemaPart(
        root=root, part=_mapping(part), is_required=is_required, is_nullable=is_nullable
    )


def _referred(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    at: Any = root if reference.startswith("#") else {}
    for step in reference.lstrip("#").split("/")[1:]:
        at = _mapping(at).get(step.replace("~1", "/").replace("~0", "~"))
    return _mapping(at)


def _types(part: Mapping[str, Any]) -> list[Any]:
    given = part.get("type", [])
    return given if isinstance(given, list) else [given]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
