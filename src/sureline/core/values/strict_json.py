"""JSON that means one thing to every reader: for what is handed over and must be believed."""

from __future__ import annotations

import json
from typing import Any


def strict_json(text: str | bytes, *, beyond: bool = False) -> Any:
    """Read one JSON value. Raises ValueError for a key that is there twice, or no JSON.

    Of two equal keys one reader takes the first and another the last (RFC 8259, section 4), so
    that a text with both can be checked as one thing and shown as another. With `beyond`, Infinity
    and NaN are read as Python writes them: verifying then names the row that has one.
    """
    constant = float if beyond else _no_constant
    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("too many brackets in brackets") from None


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found
