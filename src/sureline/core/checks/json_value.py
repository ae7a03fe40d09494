"""What a JSON value may be, and a copy of a Python value that is one."""

from __future__ import annotations

import math

from sureline.core.checks.paths import describe

MAX_BYTES = 2 * 1024 * 1024
"""Longer outputs are `too_large`; counted in UTF-8."""
MAX_DEPTH = 64
"""Deeper nesting is `too_deep`; in text it is recognised before anything is parsed."""
MAX_DIGITS = 400
"""Longer numbers are `number_too_long`; below it integers are exact."""

# log10(2): decimal digits per bit.
_DIGITS_PER_BIT = 0.30103


class Refused(Exception):
    """The value is none that JSON has; `path` lists the steps to it, innermost first."""

    def __init__(self, code: str, message: str, lexeme: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lexeme = lexeme
        self.path: list[str | int] = []


def copy_json(value: object) -> object:
    """Return a copy of a JSON value in plain types; tuples become lists.

    Raises Refused with the code `not_json`, `non_finite`, `number_too_long`, `invalid_unicode`,
    `too_deep` or `too_large`. A value that contains itself is too deep or too large.
    """
    return _copy(value, 0, [MAX_BYTES])


def _copy(value: object, depth: int, budget: list[int]) -> object:
    """Copy; `budget` is the bytes left (a part takes two at least), so sharing cannot multiply."""
    budget[0] -= 2
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _copy_text(value, budget)
    if isinstance(value, (int, float)):
        return _copy_number(value)
    if not isinstance(value, (dict, list, tuple)):
        raise Refused("not_json", f"JSON has no {type(value).__name__}.")
    if depth >= MAX_DEPTH:
        raise Refused("too_deep", f"Nested deeper than {MAX_DEPTH} levels.")
    if budget[0] < 0:
        raise Refused("too_large", f"More than {MAX_BYTES} bytes.")
    if isinstance(value, dict):
        return _copy_object(value, depth + 1, budget)
    return _copy_list(value, depth + 1, budget)


def _copy_object(value: dict[object, object], depth: int, budget: list[int]) -> dict[str, object]:
    copied: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise Refused("not_json", f"A key is {describe(key)}, not text.")
        try:
            copied[_copy_text(key, budget)] = _copy(item, depth, budget)
        except Refused as refused:
            refused.path.append(key)
            raise
    return copied


def _copy_list(
    value: list[object] | tuple[object, ...], depth: int, budget: list[int]
) -> list[object]:
    copied: list[object] = []
    try:
        for item in value:
            copied.append(_copy(item, depth, budget))  # noqa: PERF401 - its length is the index
    except Refused as refused:
        refused.path.append(len(copied))
        raise
    return copied


def _copy_text(text: str, budget: list[int]) -> str:
    budget[0] -= len(text)
    if budget[0] < 0:
        raise Refused("too_large", f"More than {MAX_BYTES} bytes.")
    if not text.isascii():
        try:
            budget[0] -= len(text.encode("utf-8")) - len(text)
        except UnicodeEncodeError:
            raise Refused("invalid_unicode", "The text holds a lone surrogate.") from None
    return str.__str__(text)


def _copy_number(value: float) -> float:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("non_finite", f"{value} is not a finite number.")
        return float.__float__(value)
    if value.bit_length() * _DIGITS_PER_BIT > MAX_DIGITS:
        raise Refused("number_too_long", f"A number longer than {MAX_DIGITS} digits.")
    return int.__int__(value)
