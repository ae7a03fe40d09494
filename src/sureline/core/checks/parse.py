"""Read an output as JSON, strictly: what two readers could read differently is refused (RFC 8259).

Everything here takes time linear in the input.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from sureline.core.checks.json_value import MAX_BYTES, MAX_DEPTH, MAX_DIGITS, Refused, copy_json
from sureline.core.checks.paths import describe, render_path
from sureline.core.values.finding import Finding

_BOM = "\ufeff"
_UNSTORABLE = frozenset({"invalid_unicode", "too_large"})
# Possessive, and the closing quote optional: an unterminated text is one token, so that the scan
# never goes back (a quadratic trap otherwise).
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}]|NaN|-?Infinity|-?[0-9][0-9.eE+-]*+", re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*+:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """An output as a JSON value with what was remarked; `ok` is False when it cannot be used."""

    value: object
    findings: tuple[Finding, ...] = ()
    ok: bool = True


def parse_output(output: object, *, structured: bool = True) -> Parsed:
    """Return `output` as a JSON value: text and bytes are parsed where structure is expected.

    A leading byte-order mark is dropped and noted (code `bom`), in text and in bytes alike. All
    other remarks are fatal: `invalid_unicode`, `too_large`, `too_deep`, `invalid_json` (with line,
    column and position), `duplicate_key`, `non_finite`, `number_too_long`, `not_an_object`, and
    `not_json` for a Python value that JSON does not have. Values that are parsed already go
    through the same checks and come back as a copy. Never raises.
    """
    if isinstance(output, (str, bytes)):
        text, refusal = _decode(output)
        if refusal is not None:
            return _failed(output, refusal)
        if not structured:
            return Parsed(value=text)
        return _parse_text(text)
    try:
        value = copy_json(output)
    except Refused as refused:
        return _failed(None, _finding(refused.code, refused.message, _path(refused)))
    if structured and not isinstance(value, dict):
        return _not_an_object(value)
    return Parsed(value=value)


def _decode(output: str | bytes) -> tuple[str, Finding | None]:
    if len(output) > MAX_BYTES:
        return "", _too_large()
    try:
        if isinstance(output, bytes):
            return output.decode("utf-8"), None
        size = len(output) if output.isascii() else len(output.encode("utf-8"))
    except UnicodeDecodeError as error:
        return "", _finding("invalid_unicode", f"Byte {error.start} is not valid UTF-8.")
    except UnicodeEncodeError as error:
        where = _where(output if isinstance(output, str) else "", error.start)
        return "", _finding("invalid_unicode", f"A lone surrogate, {where}.")
    return (output, None) if size <= MAX_BYTES else ("", _too_large())


def _parse_text(text: str) -> Parsed:
    notes: tuple[Finding, ...] = ()
    body = text
    if text.startswith(_BOM):
        body = text[1:]
        notes = (Finding(code="bom", message="A leading byte-order mark was dropped."),)
    try:
        _refuse_depth(body)
        value = _DECODER.decode(body)
        # Only an escape can bring a surrogate in now: the text itself was encoded above.
        if "\\ud" in body or "\\uD" in body:
            copy_json(value)
    except json.JSONDecodeError as error:
        found = _finding("invalid_json", f"Not JSON: {error.msg}, {_where(body, error.pos)}.")
        return _failed(text, found, notes)
    except Refused as refused:
        where = _locate(body, refused)
        message = refused.message if where is None else f"{refused.message[:-1]}, {where}."
        return _failed(text, _finding(refused.code, message, _path(refused)), notes)
    if not isinstance(value, dict):
        return _not_an_object(value)
    return Parsed(value=value, findings=notes)


def _refuse_depth(text: str) -> None:
    """Refuse nesting deeper than MAX_DEPTH without parsing."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for found in _TOKEN.finditer(text):
        first = text[found.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                where = _where(text, found.start())
                raise Refused("too_deep", f"Nested deeper than {MAX_DEPTH} levels, {where}.")
        elif first in "]}":
            depth -= 1


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("duplicate_key", "A key stands twice in one object.")
    return found


def _read_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise Refused("number_too_long", f"A number longer than {MAX_DIGITS} digits.", digits)
    return int(digits)


def _read_float(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise Refused("number_too_long", f"A number longer than {MAX_DIGITS} digits.", digits)
    number = float(digits)
    if not math.isfinite(number):
        raise Refused("non_finite", "A number too large to be finite.", digits)
    return number


def _read_constant(name: str) -> object:
    raise Refused("non_finite", f"{name} is not JSON.", name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object,
    parse_int=_read_int,
    parse_float=_read_float,
    parse_constant=_read_constant,
)


def _locate(text: str, refused: Refused) -> str | None:
    """Say where the offending number or key stands; only failures pay for this second scan."""
    if refused.code == "duplicate_key":
        return _locate_duplicate(text)
    if refused.lexeme:
        for found in _TOKEN.finditer(text):
            if found.group() == refused.lexeme:
                return _where(text, found.start())
    return None


def _locate_duplicate(text: str) -> str | None:
    scopes: list[set[str]] = []
    for found in _TOKEN.finditer(text):
        lexeme = found.group()
        if lexeme in "[{":
            scopes.append(set())
        elif lexeme in "]}":
            scopes.pop()
        elif lexeme[0] == '"' and _COLON.match(text, found.end()):
            key = json.loads(lexeme)
            if key in scopes[-1]:
                return f"key {_quoted(key)}, {_where(text, found.start())}"
            scopes[-1].add(key)
    return None


def _where(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line} column {column} (character {position})"


def _path(refused: Refused) -> str | None:
    path = render_path(refused.path[::-1])
    # A path can hold the very key that cannot be encoded.
    return None if path is None else path.encode("utf-8", "replace").decode("utf-8")


def _quoted(text: str) -> str:
    return json.dumps(text if len(text) <= 60 else text[:60] + "...")


def _finding(code: str, message: str, field: str | None = None) -> Finding:
    return Finding(code=code, message=message, field=field, fatal=True)


def _too_large() -> Finding:
    return _finding("too_large", f"The output is longer than {MAX_BYTES} bytes.")


def _not_an_object(value: object) -> Parsed:
    message = f"Expected a JSON object, got {describe(value)}."
    return Parsed(value=value, findings=(_finding("not_an_object", message),), ok=False)


def _failed(value: object, found: Finding, notes: tuple[Finding, ...] = ()) -> Parsed:
    """Give the text back for a person to read, but only if it can be stored."""
    storable = value if isinstance(value, str) and found.code not in _UNSTORABLE else None
    return Parsed(value=storable, findings=(*notes, found), ok=False)
