"""The hash chain of the ledger: pure functions that digest rows and link them.

A row's hash is SHA-256 over, in this order: the previous row's hash (32 bytes, zeros for the
first), SHA-256 of its body, its payload digest (zeros where it has no payload) and its canonical
fields. All but the last have a fixed length, so no two rows share an input. The fields contain
stream, seq and kind. A field that is None is left out, so that a later version may add columns
without changing old hashes.

A payload digest is SHA-256 over a random salt and the payload: once the payload and its salt are
erased, the digest can neither be inverted nor confirmed by guessing, and the chain still verifies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from sureline.core.canonical import canonical_json
from sureline.errors import InvalidInput

FieldValue = str | int | float | None

ZERO = bytes(32)
"""Stands for the hash before the first row, and for the digest of no payload."""

ERASURE = "erasure"
"""The kind of row that names in its body the rows whose payload was erased."""

SEAL = "seal"
"""The kind of row that names in its body where the other streams stood: it commits to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a stream stands: its last row's number (0 before the first) and hash."""

    seq: int = 0
    hash: bytes = ZERO

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read `seq:hash` as printed by `str`. Raises InvalidInput."""
        number, _, digest = text.strip().partition(":")
        if not number.isdecimal() or len(digest) != 64:
            raise InvalidInput("expected <number>:<64 hex digits>", field="head")
        try:
            return cls(seq=int(number), hash=bytes.fromhex(digest))
        except ValueError as error:
            raise InvalidInput("expected <number>:<64 hex digits>", field="head") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What may be erased of a row, with the salt that hides it in the digest."""

    salt: bytes
    answer: bytes
    request: bytes

    def digest(self) -> bytes:
        """Return the 32 bytes that the chain commits to."""
        return payload_digest(self.salt, self.answer, self.request)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRow:
    """A ledger row as the chain sees it, whatever table it is stored in.

    `payload_digest` is ZERO for rows that never had a payload; `payload` is None for those and
    for erased ones. `payload_omitted` says that an export left the payload out.
    """

    stream: str
    seq: int
    kind: str
    fields: Mapping[str, FieldValue]
    body: bytes
    payload_digest: bytes
    hash: bytes
    payload: Payload | None = None
    payload_omitted: bool = False


def erasure_body(stream: str, places: Iterable[tuple[str, int]]) -> bytes:
    """Write what an erasure of `stream` erased: under `rows` its own rows, others by stream."""
    rows: list[int] = []
    others: list[tuple[str, int]] = []
    for place in places:
        if place[0] == stream:
            rows.append(place[1])
        else:
            others.append(place)
    return canonical_json({"rows": rows, **({"others": others} if others else {})})


def erased_places(row: ChainRow) -> Sequence[tuple[str, int]]:
    """Return the rows that an erasure names, as (stream, seq); none if it cannot be read."""
    try:
        body = json.loads(row.body)
        own = [(row.stream, seq) for seq in body["rows"] if isinstance(seq, int)]
        return [*own, *((str(stream), int(seq)) for stream, seq in body.get("others", ()))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()


def seal_body(heads: Mapping[str, Head]) -> bytes:
    """Write where streams stand, as the body of a seal."""
    return canonical_json({stream: str(head) for stream, head in heads.items()})


def heads_in(body: bytes) -> Mapping[str, Head]:
    """Return where the streams stood at the seal of this body; none if it cannot be read."""
    try:
        return {str(stream): Head.parse(text) for stream, text in json.loads(body).items()}
    except (ValueError, AttributeError, InvalidInput, RecursionError):
        return {}


def payload_digest(salt: bytes, answer: bytes, request: bytes) -> bytes:
    """Digest a payload; the length in front of `answer` keeps the two parts apart."""
    return sha256(b"".join((salt, len(answer).to_bytes(8, "big"), answer, request))).digest()


def vector_digest(salt: bytes, model_id: str, vector: bytes) -> bytes:
    """Digest the vector of a decision under its payload's salt, which is erased with it."""
    return sha256(b"".join((salt, model_id.encode("utf-8"), b"\x00", vector))).digest()


def canonical_fields(stream: str, seq: int, kind: str, fields: Mapping[str, FieldValue]) -> bytes:
    """Encode a row's fields as canonical JSON: sorted keys, no spaces, no nulls.

    Raises InvalidInput for a number that JSON cannot carry.
    """
    present: dict[str, FieldValue] = {k: v for k, v in fields.items() if v is not None}
    present["stream"], present["seq"], present["kind"] = stream, seq, kind
    for value in present.values():
        if type(value) is float and value - value != 0:
            raise InvalidInput("numbers in the ledger must be finite", field=kind)
    return canonical_json(present)


def row_hash(previous: bytes, fields: bytes, body: bytes, payload: bytes) -> bytes:
    """Link a row to the previous one; `fields` come from `canonical_fields`."""
    return sha256(b"".join((previous, sha256(body).digest(), payload, fields))).digest()
