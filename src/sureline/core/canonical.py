"""One byte form per JSON value, so that digests mean the same everywhere."""

from __future__ import annotations

import json
from typing import Any

from sureline.errors import InvalidInput

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def canonical_json(value: Any) -> bytes:
    """Encode a JSON value with sorted keys, no spaces and exact integers, as UTF-8.

    Raises InvalidInput for what JSON cannot say: NaN, infinities, lone surrogates, other types.
    """
    return _encode(_ENCODER, value)


def json_bytes(value: Any) -> bytes:
    """Encode a JSON value as canonical_json does, but keep the order of keys."""
    return _encode(_PLAIN, value)


def _encode(encoder: json.JSONEncoder, value: Any) -> bytes:
    try:
        return encoder.encode(value).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(f"not a JSON value: {error}") from error
