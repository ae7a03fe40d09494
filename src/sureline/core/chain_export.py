"""The ledger as lines of JSON that anyone can verify without its store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sureline.core.chain import ZERO, ChainRow, Head, Payload
from sureline.core.chain_verification import ChainReport
from sureline.core.ledger_verification import LedgerVerifier
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

T = TypeVar("T")

OMITTED = "omitted"
"""Stands for a payload that the export leaves out."""
_LINE = frozenset({"stream", "seq", "kind", "fields", "body", "payload_digest", "payload", "hash"})
_PAYLOAD = frozenset({"salt", "answer", "request"})


def export_line(row: ChainRow) -> str:
    """Write a row as one line of JSON that `verify_export` reads; all bytes survive."""
    line: dict[str, Any] = {
        "stream": row.stream,
        "seq": row.seq,
        "kind": row.kind,
        "fields": {name: value for name, value in row.fields.items() if value is not None},
        "body": _text(row.body),
        "payload_digest": None if row.payload_digest == ZERO else row.payload_digest.hex(),
        "payload": OMITTED if row.payload_omitted else None,
        "hash": row.hash.hex(),
    }
    if row.payload is not None:
        line["payload"] = {
            "salt": row.payload.salt.hex(),
            "answer": _text(row.payload.answer),
            "request": _text(row.payload.request),
        }
    return json.dumps(line, ensure_ascii=True, separators=(",", ":"))


def read_export_line(line: str) -> ChainRow:
    """Read a line of `export_line`. Raises InvalidInput, also for what no hash would cover."""
    try:
        data = _with_keys(_LINE, strict_json(line, beyond=True))
        payload, digest = data["payload"], data["payload_digest"]
        return ChainRow(
            stream=_exactly(str, data["stream"]),
            seq=_exactly(int, data["seq"]),
            kind=_exactly(str, data["kind"]),
            fields=_fields(data["fields"]),
            body=_bytes(data["body"]),
            payload_digest=ZERO if digest is None else bytes.fromhex(digest),
            payload=_payload(payload),
            payload_omitted=payload == OMITTED,
            hash=bytes.fromhex(data["hash"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"not a line of a ledger export ({error})") from error


def verify_export(
    lines: Iterable[str],
    *,
    expected: Head | None = None,
    seen: Callable[[ChainRow], None] | None = None,
) -> ChainReport:
    """Verify an exported ledger without its store, in constant memory.

    An export may leave all payloads out; then there is none to compare and the report says so.
    `seen` is handed every row that holds.
    """
    verifier = LedgerVerifier(None, expected=expected)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = read_export_line(line)
        except InvalidInput as error:
            verifier.reject(number, f"line {number}: {error.message}")
            break
        if not verifier.add(row):
            break
        if seen is not None:
            seen(row)
    return verifier.finish()


def _exactly(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _with_keys(keys: frozenset[str], data: Any) -> dict[str, Any]:
    unknown = sorted(set(_exactly(dict, data)) - keys)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")
    return dict(data)


def _fields(data: Any) -> dict[str, Any]:
    """Return the fields of a row, of which its hash covers no null and no place or kind."""
    loose = sorted(
        name
        for name, value in _exactly(dict, data).items()
        if value is None or name in {"stream", "seq", "kind"}
    )
    if loose:
        raise ValueError(f"no row's hash covers the field {loose[0]!r}")
    return dict(data)


def _payload(data: Any) -> Payload | None:
    if data is None or data == OMITTED:
        return None
    _with_keys(_PAYLOAD, data)
    return Payload(
        salt=bytes.fromhex(data["salt"]),
        answer=_bytes(data["answer"]),
        request=_bytes(data["request"]),
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
