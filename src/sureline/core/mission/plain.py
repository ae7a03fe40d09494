"""Turns frozen dataclasses into values that JSON can hold, and back, exactly.

What comes back is what went in, field by field: another field, one that is missing, or a value of
another type is refused, so that a damaged record is never taken for a smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def plain(value: Any) -> Any:
    """Return a value as JSON has it; moments are whole microseconds since 1970.

    Raises ValueError for a moment without a zone.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a moment needs its time zone")
        return (value - _EPOCH) // _MICROSECOND
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def restored(kind: type[T], data: Any) -> T:
    """Make the value of a dataclass that `plain` wrote. Raises ValueError, TypeError."""
    hints = _hints(cast("Any", kind))
    if not isinstance(data, dict) or data.keys() != hints.keys():
        found = sorted(data.keys() ^ hints.keys()) if isinstance(data, dict) else [repr(data)[:40]]
        raise ValueError(f"not a {kind.__name__}: {', '.join(found)}")
    return kind(**{name: _of(hint, data[name]) for name, hint in hints.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _of(hint: Any, data: Any) -> Any:
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return None if data is None and NoneType in get_args(hint) else _of(_some(hint), data)
    if origin is tuple:
        return tuple(_of(get_args(hint)[0], one) for one in _exactly(list, data))
    if origin is not None:  # a mapping
        within = get_args(hint)[1]
        return {key: _of(within, one) for key, one in _exactly(dict, data).items()}
    return data if hint is Any else _single(hint, data)


def _some(hint: Any) -> Any:
    """Return what an optional value is where it is there."""
    (some,) = (one for one in get_args(hint) if one is not NoneType)
    return some


def _single(hint: Any, data: Any) -> Any:
    if is_dataclass(hint):
        return restored(hint, data)  # type: ignore[arg-type]
    if hint is datetime:
        return _EPOCH + timedelta(microseconds=_exactly(int, data))
    if issubclass(hint, StrEnum):
        return hint(data)
    if hint is float and type(data) is int:
        return float(data)
    return _exactly(hint, data)


def _exactly(kind: type[T], data: Any) -> T:
    if type(data) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {type(data).__name__}")
    return data
