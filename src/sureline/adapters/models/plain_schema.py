"""The part of a JSON Schema to which every provider can hold a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})


class _NotPlain(Exception):
    """The schema says what some provider does not understand, or would turn into another form."""


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema's structure, None where it has no structure that every provider takes.

    Kept are objects with named properties, arrays, scalars, `enum` and `anyOf`. Limits on values
    (`minimum`, `pattern`, ...) are left out: providers refuse some of them, and who reads the
    reply checks it anyway. References, open objects and lists of types give None: the model is
    then asked in words alone. Objects are closed, as providers demand.
    """
    try:
        plain = _plain(schema)
    except (_NotPlain, RecursionError):
        return None
    return plain if plain.get("type") == "object" else None


def _plain(schema: object) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or schema.keys() & {"$ref", "allOf", "oneOf", "not", "if"}:
        raise _NotPlain
    said: dict[str, Any] = {}
    if isinstance(schema.get("description"), str):
        said["description"] = schema["description"]
    if "anyOf" in schema:
        return {"anyOf": [_plain(one) for one in _some(schema["anyOf"])], **said}
    kind = schema.get("type")
    if kind == "object":
        return _object(schema) | said
    if kind == "array":
        return {"type": "array", "items": _plain(schema.get("items")), **said}
    if not isinstance(kind, str) or kind not in SCALARS:
        raise _NotPlain
    if "enum" in schema:
        said["enum"] = _words(schema["enum"])
    return {"type": kind, **said}


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise _NotPlain
    if schema.get("additionalProperties", False) is not False or "patternProperties" in schema:
        raise _NotPlain
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(required) <= properties.keys():
        raise _NotPlain
    return {
        "type": "object",
        "properties": {name: _plain(one) for name, one in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _words(values: object) -> list[str]:
    """Return the values of an `enum`, which are texts here."""
    if not all(isinstance(one, str) for one in _some(values)):
        raise _NotPlain
    return _some(values)


def _some(values: object) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise _NotPlain
    return values
