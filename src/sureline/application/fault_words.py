"""Say in plain words what is wrong with an input that was read as a described shape."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from typing_extensions import get_type_hints, is_typeddict

from sureline.errors import InvalidInput

MOST = 20
"""So many faults are told; the others are counted."""

_LONGEST_NAME = 60

_EXPECTED = {
    "string_type": "a text",
    "string_unicode": "a text of whole characters",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "enum": "{expected}",
    "literal_error": "{expected}",
    "datetime_type": "a moment such as 2026-01-31T09:30:00Z",
    "datetime_parsing": "a moment such as 2026-01-31T09:30:00Z",
    "datetime_from_date_parsing": "a moment such as 2026-01-31T09:30:00Z",
    "datetime_object_invalid": "a moment such as 2026-01-31T09:30:00Z",
    "timezone_aware": "a moment with a zone, such as 2026-01-31T09:30:00Z",
}
_KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    NoneType: "nothing",
}
_OF_KIND = frozenset(name for name in _EXPECTED if name.endswith("_type"))

Path = tuple[str | int, ...]


def in_words(error: ValidationError, raw: object, *, shape: Any, whole: str) -> InvalidInput:
    """Say all faults of `raw`, read as `shape`, without quoting its content.

    `whole` is the input's name where all of it is at fault. The first fault's path is `field`.
    """
    faults = [(_path(fault, raw), fault) for fault in error.errors(include_url=False)]
    deepest = [(path, one) for path, one in faults if not _is_outdone(path, one, faults)]
    told = [
        (".".join(_short(str(part)) for part in path) or whole, _sentence(path, group, shape))
        for path, group in _grouped(deepest)
    ]
    texts = [f"{path}: {sentence}" for path, sentence in told[:MOST]]
    if len(told) > MOST:
        texts.append(f"and {len(told) - MOST} more")
    wrong = InvalidInput("; ".join(texts))
    wrong.field = told[0][0]
    return wrong


def _path(fault: Mapping[str, Any], raw: object) -> Path:
    """Return where a fault is in the input itself: names of a union's members are no part of it."""
    path: list[str | int] = []
    value: Any = raw
    for part in fault["loc"]:
        if _holds(value, part):
            value = value[part]
        elif not (fault["type"] == "missing" and part == fault["loc"][-1]):
            continue
        path.append(part)
    return tuple(path)


def _holds(value: object, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)


def _is_outdone(
    path: Path, fault: Mapping[str, Any], faults: Sequence[tuple[Path, Mapping[str, Any]]]
) -> bool:
    """Tell whether another member of a union got further: then that one was meant."""
    if len(path) == len(fault["loc"]) or len(faults) > 10 * MOST:
        return False
    return any(len(other) > len(path) and other[: len(path)] == path for other, _ in faults)


def _grouped(
    faults: Sequence[tuple[Path, Mapping[str, Any]]],
) -> Iterator[tuple[Path, list[Mapping[str, Any]]]]:
    for path, group in groupby(faults, key=lambda one: one[0]):
        yield path, [fault for _, fault in group]


def _sentence(path: Path, faults: Sequence[Mapping[str, Any]], shape: Any) -> str:
    fault = faults[0]
    if fault["type"] == "missing":
        return "this field is needed"
    if fault["type"] == "extra_forbidden":
        return _unknown(str(path[-1]), sorted(_fields(shape, path[:-1])))
    if fault["loc"][-1:] == ("[key]",):
        return "expected texts as names"
    wanted = dict.fromkeys(_expected(one) + _of(one, path, shape) for one in faults)
    got = f", got {_kind(fault['input'])}" if fault["type"] in _OF_KIND else ""
    return f"expected {' or '.join(wanted)}{got}"


def _expected(fault: Mapping[str, Any]) -> str:
    words = _EXPECTED.get(fault["type"], "something else")
    text = words.format(**fault.get("ctx", {})).replace("'", "")
    return text.replace("1 characters", "1 character") if text.endswith(" 1 characters") else text


def _of(fault: Mapping[str, Any], path: Path, shape: Any) -> str:
    """Say which fields the entries of an expected list have, if they have any."""
    fields = sorted(_fields(shape, (*path, 0))) if fault["type"] == "list_type" else []
    return f" of objects with {' and '.join(fields)}" if fields else ""


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name[:_LONGEST_NAME], known, n=1, cutoff=0.6)
    if near:
        return f"no such field; did you mean {near[0]}?"
    return f"no such field; the fields are {', '.join(known)}"


def _fields(shape: Any, path: Path) -> set[str]:
    """Return the names of the fields that a shape has at a path."""
    shapes = list(_members(shape))
    for part in path:
        shapes = [inner for one in shapes for inner in _inside(one, part)]
    return {name for one in shapes for name in _hints(one)}


def _members(shape: Any) -> Iterator[Any]:
    """Yield what a type may stand for: the members of a union, without annotations."""
    origin = get_origin(shape)
    if origin in {Annotated, Required, NotRequired}:
        yield from _members(get_args(shape)[0])
    elif origin in {Union, UnionType}:
        for member in get_args(shape):
            yield from _members(member)
    else:
        yield shape


def _inside(shape: Any, part: str | int) -> Iterator[Any]:
    if isinstance(part, int):
        inner = get_args(shape)[:1] if get_origin(shape) in {list, tuple} else ()
    else:
        hints = _hints(shape)
        inner = (hints[part],) if part in hints else ()
    for one in inner:
        yield from _members(one)


def _hints(shape: Any) -> dict[str, Any]:
    if is_typeddict(shape) or (isinstance(shape, type) and issubclass(shape, BaseModel)):
        return get_type_hints(shape)
    return {}


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
