"""A statement of where a store's ledger stands, to be signed, kept elsewhere and compared later.

It names the head of every stream, so that no seal is needed for it to commit to all rows. What is
signed is the line `FORMAT` followed by the statement's canonical JSON, without its signature.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.chain import ChainRow, Head
from sureline.core.values.counted import counted
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

FORMAT = "sureline-head-1"
ALGORITHM = "ed25519"
MOST_BYTES = 1 << 20
"""A longer file is no statement."""
_FIELDS = frozenset({"format", "store", "at", "rows", "heads", "signature"})
_IDENTITY = b"sureline store identity"


def store_identity(secret: bytes) -> str:
    """Return what tells a store and its copies from all others, without betraying its secret."""
    return hmac.digest(secret, _IDENTITY, "sha256")[:16].hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who signed, by a key's fingerprint in hexadecimal, and the 64 bytes of Ed25519."""

    key: str
    value: bytes

    def as_json(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {"algorithm": ALGORITHM, "key": self.key, "value": self.value.hex()}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadStatement:
    """Where the streams of a store stood at a moment; `store` is its identity."""

    store: str
    at: datetime
    heads: Mapping[str, Head]
    signature: Signature | None = None

    @property
    def rows(self) -> int:
        """Return how many rows the ledger had: places are counted without gaps."""
        return sum(head.seq for head in self.heads.values())

    def signed_bytes(self) -> bytes:
        """Return what a signature is over."""
        return FORMAT.encode() + b"\n" + canonical_json(self._content())

    def text(self) -> str:
        """Write the statement as JSON, for a file."""
        signed = {} if self.signature is None else {"signature": self.signature.as_json()}
        return json.dumps({**self._content(), **signed}, indent=2) + "\n"

    def signed(self, signature: Signature) -> HeadStatement:
        """Return the statement with its signature."""
        return replace(self, signature=signature)

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "store": self.store,
            "at": self.at.astimezone(UTC).isoformat(),
            "rows": self.rows,
            "heads": {name: str(head) for name, head in sorted(self.heads.items())},
        }


def read_statement(data: bytes, *, file: str) -> HeadStatement:
    """Read what `HeadStatement.text` wrote. Raises InvalidInput naming the file and the field."""
    if len(data) > MOST_BYTES:
        raise InvalidInput("longer than any statement of a head", field=file)
    try:
        content = strict_json(data, beyond=True)
    except ValueError as error:
        raise InvalidInput(f"not JSON, perhaps cut off ({error})", field=file) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidInput(f"expected a statement with format {FORMAT!r}", field=file)
    unknown = sorted(set(content) - _FIELDS)
    if unknown:
        raise InvalidInput(f"unknown field {unknown[0]!r}", field=file)
    found = HeadStatement(
        store=_text(content, "store", file),
        at=_moment(content, file),
        heads=_heads(content, file),
        signature=read_signature(content.get("signature"), file=file),
    )
    if content.get("rows") != found.rows:
        raise InvalidInput(f"rows: expected {found.rows}, the sum of the heads", field=file)
    return found


def read_signature(content: Any, *, file: str) -> Signature | None:
    """Read a signature, None where there is none. Raises InvalidInput."""
    if content is None:
        return None
    wanted = {"algorithm", "key", "value"}
    if not isinstance(content, dict) or set(content) != wanted:
        raise InvalidInput("signature: expected algorithm, key and value", field=file)
    if content["algorithm"] != ALGORITHM:
        raise InvalidInput(f"signature.algorithm: expected {ALGORITHM!r}", field=file)
    try:
        value = bytes.fromhex(content["value"])
    except (ValueError, TypeError):
        value = b""
    if len(value) != 64:
        raise InvalidInput("signature.value: expected 128 hex digits", field=file)
    return Signature(key=str(content["key"]), value=value)


class HeadsMet:
    """Looks whether a ledger runs through the heads of a statement."""

    def __init__(self, statement: HeadStatement) -> None:
        self._wanted = {name: head for name, head in statement.heads.items() if head.seq}
        self._ends: dict[str, int] = {}
        self._other: set[str] = set()
        self._met: set[str] = set()

    def add(self, row: ChainRow) -> None:
        """Take a row; of those that are no head only how far the stream goes is noted."""
        self.look(row.stream, row.seq, row.hash)

    def look(self, stream: str, seq: int, digest: bytes) -> None:
        """Take a row by its place and its hash."""
        self.reach(stream, seq)
        head = self._wanted.get(stream)
        if head is not None and seq == head.seq:
            (self._met if digest == head.hash else self._other).add(stream)

    def reach(self, stream: str, seq: int) -> None:
        """Note that a stream has a row of this number."""
        self._ends[stream] = max(seq, self._ends.get(stream, 0))

    def faults(self) -> tuple[str, ...]:
        """Say in sentences through which heads the ledger does not run."""
        return tuple(
            self._fault(stream, head)
            for stream, head in sorted(self._wanted.items())
            if stream not in self._met or stream in self._other
        )

    def _fault(self, stream: str, head: Head) -> str:
        if stream in self._other:
            return (
                f"stream {stream!r}: row {head.seq} has another hash than the stated head: the "
                f"ledger was rewritten, or is another store's"
            )
        end = self._ends.get(stream, 0)
        if end < head.seq:
            rows = counted(head.seq - end, "row")
            return (
                f"stream {stream!r} ends at row {end}, {rows} before the stated head: rows were "
                f"removed, or this is an older copy"
            )
        return f"stream {stream!r}: row {head.seq}, the stated head, is missing"

    @property
    def missing(self) -> int:
        """Return how many rows the ledger is short of the stated heads."""
        return sum(
            max(0, head.seq - self._ends.get(stream, 0)) for stream, head in self._wanted.items()
        )

    @property
    def contradicted(self) -> bool:
        """Tell whether a row stands where the statement has another."""
        return bool(self._other)


def _text(content: Mapping[str, Any], name: str, file: str) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{name}: expected a text", field=file)
    return value


def _moment(content: Mapping[str, Any], file: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text(content, "at", file))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput("at: expected a moment with its zone (ISO 8601)", field=file)
    return found


def _heads(content: Mapping[str, Any], file: str) -> dict[str, Head]:
    heads = content.get("heads")
    if not isinstance(heads, dict):
        raise InvalidInput("heads: expected a head for each stream", field=file)
    found = {}
    for name, text in heads.items():
        try:
            found[name] = Head.parse(str(text))
        except InvalidInput as error:
            raise InvalidInput(f"heads.{name}: {error.message}", field=file) from None
    return found
