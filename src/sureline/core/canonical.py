"""One byte form per JSON value, so that digests mean the same everywhere."""

from __future__ import annotations

import json
from typing import Any

import orjson

from sureline.errors import InvalidInput

_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SORTED = _PLAIN | orjson.OPT_SORT_KEYS

_EXACT = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
"""Slower; knows integers of any size, and refuses NaN where orjson writes null."""


def canonical_json(value: Any) -> bytes:
    """Encode a JSON value with sorted keys, no spaces and exact integers, as UTF-8.

    Raises InvalidInput for what JSON cannot say: NaN, infinities, lone surrogates, other types.
    """
    try:
        encoded = orjson.dumps(value, option=_SORTED)
    except TypeError:
        return _exact(value)
    if b"null" in encoded:
        _exact(value)  # a null may have been a NaN
    return encoded


def json_bytes(value: Any) -> bytes:
    """Encode a JSON value of figures in the order given; what is not finite becomes null.

    Raises InvalidInput for what JSON cannot say otherwise.
    """
    try:
        return orjson.dumps(value, option=_PLAIN)
    except TypeError:
        return _exact(value)


def _exact(value: Any) -> bytes:
    try:
        return _EXACT.encode(value).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(f"not a JSON value: {error}") from error
