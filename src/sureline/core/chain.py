"""The hash chain of the ledger: pure functions that link, digest and verify rows.

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
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sureline.errors import InvalidInput

FieldValue = str | int | float | None

ZERO = bytes(32)
"""Stands for the hash before the first row, and for the digest of no payload."""

ERASURE = "erasure"
"""The kind of row that names, in its body under `rows`, the rows whose payload was erased."""

_encode = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


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
    for erased ones.
    """

    stream: str
    seq: int
    kind: str
    fields: Mapping[str, FieldValue]
    body: bytes
    payload_digest: bytes
    hash: bytes
    payload: Payload | None = None


def payload_digest(salt: bytes, answer: bytes, request: bytes) -> bytes:
    """Digest a payload; the length in front of `answer` keeps the two parts apart."""
    return sha256(b"".join((salt, len(answer).to_bytes(8, "big"), answer, request))).digest()


def canonical_fields(stream: str, seq: int, kind: str, fields: Mapping[str, FieldValue]) -> bytes:
    """Encode a row's fields as canonical JSON: sorted keys, ASCII, no spaces, no nulls.

    Raises InvalidInput for a number that JSON cannot carry.
    """
    present: dict[str, FieldValue] = {k: v for k, v in fields.items() if v is not None}
    present["stream"], present["seq"], present["kind"] = stream, seq, kind
    try:
        return _encode(present).encode("ascii")
    except ValueError as error:
        raise InvalidInput("numbers in the ledger must be finite", field=kind) from error


def row_hash(previous: bytes, fields: bytes, body: bytes, payload: bytes) -> bytes:
    """Link a row to the previous one; `fields` come from `canonical_fields`."""
    return sha256(b"".join((previous, sha256(body).digest(), payload, fields))).digest()


class FaultKind(StrEnum):
    """What is wrong at a place in the chain."""

    CHANGED = "changed"
    """The row is not what was written, or another row stands in its place."""
    MISSING = "missing"
    """A row was removed."""
    EXTRA = "extra"
    """A row stands where another already stands."""
    PAYLOAD_CHANGED = "payload_changed"
    """The payload is not what was written."""
    PAYLOAD_MISSING = "payload_missing"
    """The payload is gone and no erasure says so."""
    CUT = "cut"
    """The chain ends before the head that it should reach."""
    UNREADABLE = "unreadable"
    """The row cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first place where the chain does not hold."""

    seq: int
    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What verification saw.

    `rows` were read, up to `head`; `erased` payloads are gone on record. `cannot_see` says in
    plain words what this verification could not have noticed.
    """

    rows: int
    head: Head
    ok: bool
    fault: Fault | None
    erased: int
    cannot_see: tuple[str, ...]


class ChainVerifier:
    """Verifies rows one by one in the order of `seq`, in constant memory.

    `expected` is a head written down earlier, outside the store: the chain must run through it.
    """

    def __init__(
        self, stream: str, *, start: Head | None = None, expected: Head | None = None
    ) -> None:
        self._stream = stream
        self._head = start or Head()
        self._expected = expected
        self._from_start = start is None
        self._rows = 0
        self._erased = 0
        self._unexplained: set[int] = set()
        self.fault: Fault | None = None

    def add(self, row: ChainRow) -> bool:
        """Take the next row; False once a fault was found, and then nothing more is looked at."""
        if self.fault is None:
            self.fault = self._misplaced(row) or self._altered(row) or self._off_course(row)
        if self.fault is not None:
            return False
        self._rows += 1
        self._head = Head(seq=row.seq, hash=row.hash)
        self._note_payload(row)
        return True

    def reject(self, seq: int, message: str) -> None:
        """Record that a row could not be read at all."""
        self.fault = self.fault or Fault(seq=seq, kind=FaultKind.UNREADABLE, message=message)

    def finish(self, known_head: Head | None = None) -> ChainReport:
        """Say what was seen; `known_head` is where the store itself believes the chain ends."""
        fault = self.fault or self._ended_early(known_head) or self._vanished_payload()
        return ChainReport(
            rows=self._rows,
            head=self._head,
            ok=fault is None,
            fault=fault,
            erased=self._erased,
            cannot_see=self._blind_spots(),
        )

    def _misplaced(self, row: ChainRow) -> Fault | None:
        wanted = self._head.seq + 1
        if row.stream != self._stream:
            return Fault(
                seq=wanted,
                kind=FaultKind.CHANGED,
                message=f"row {row.seq} belongs to stream {row.stream!r}, not {self._stream!r}",
            )
        if row.seq == wanted:
            return None
        if row.seq < wanted:
            return Fault(
                seq=row.seq,
                kind=FaultKind.EXTRA,
                message=f"row {row.seq} comes twice or out of order",
            )
        return Fault(
            seq=wanted,
            kind=FaultKind.MISSING,
            message=f"row {wanted} is missing; the next row is {row.seq}",
        )

    def _altered(self, row: ChainRow) -> Fault | None:
        try:
            fields = canonical_fields(row.stream, row.seq, row.kind, row.fields)
        except InvalidInput as error:
            return Fault(seq=row.seq, kind=FaultKind.CHANGED, message=error.message)
        if row_hash(self._head.hash, fields, row.body, row.payload_digest) != row.hash:
            return Fault(
                seq=row.seq,
                kind=FaultKind.CHANGED,
                message=f"row {row.seq} ({row.kind}) was changed or replaced",
            )
        if row.payload is not None and row.payload.digest() != row.payload_digest:
            return Fault(
                seq=row.seq,
                kind=FaultKind.PAYLOAD_CHANGED,
                message=f"the payload of row {row.seq} ({row.kind}) was changed",
            )
        return None

    def _off_course(self, row: ChainRow) -> Fault | None:
        expected = self._expected
        if expected is None or row.seq != expected.seq or row.hash == expected.hash:
            return None
        return Fault(
            seq=row.seq,
            kind=FaultKind.CHANGED,
            message=f"row {row.seq} has another hash than the expected head",
        )

    def _note_payload(self, row: ChainRow) -> None:
        if row.payload is None and row.payload_digest != ZERO:
            self._unexplained.add(row.seq)
        if row.kind == ERASURE:
            explained = self._unexplained & set(erased_rows(row.body))
            self._erased += len(explained)
            self._unexplained -= explained

    def _ended_early(self, known_head: Head | None) -> Fault | None:
        for wanted, whose in (
            (self._expected, "the expected head"),
            (known_head, "the head that the store recorded"),
        ):
            if wanted is None or wanted.seq < self._head.seq:
                continue
            if wanted.seq > self._head.seq:
                return Fault(
                    seq=self._head.seq + 1,
                    kind=FaultKind.CUT,
                    message=f"the chain ends at row {self._head.seq}; {whose} is row {wanted.seq}",
                )
            if wanted.hash != self._head.hash:
                return Fault(
                    seq=wanted.seq,
                    kind=FaultKind.CHANGED,
                    message=f"row {wanted.seq} has another hash than {whose}",
                )
        return None

    def _vanished_payload(self) -> Fault | None:
        if not self._unexplained:
            return None
        seq = min(self._unexplained)
        return Fault(
            seq=seq,
            kind=FaultKind.PAYLOAD_MISSING,
            message=f"the payload of row {seq} is gone and no erasure says so",
        )

    def _blind_spots(self) -> tuple[str, ...]:
        spots = []
        if self._expected is None:
            spots.append(
                "rows cut off at the end, or a chain rewritten as a whole: compare with a head "
                "that was written down elsewhere"
            )
        elif self._head.seq > self._expected.seq:
            spots.append(f"rows cut off after row {self._expected.seq}, the expected head")
        if not self._from_start:
            spots.append("rows before the one that verification started from")
        return tuple(spots)


def erased_rows(body: bytes) -> Sequence[int]:
    """Return the row numbers that an erasure's body names; none if it cannot be read."""
    try:
        rows = json.loads(body)["rows"]
    except (ValueError, KeyError, TypeError):
        return ()
    return [seq for seq in rows if isinstance(seq, int)] if isinstance(rows, list) else ()


def export_line(row: ChainRow) -> str:
    """Write a row as one line of JSON that `verify_export` reads; bytes that are no text survive."""
    line: dict[str, Any] = {
        "stream": row.stream,
        "seq": row.seq,
        "kind": row.kind,
        "fields": {name: value for name, value in row.fields.items() if value is not None},
        "body": _text(row.body),
        "payload_digest": None if row.payload_digest == ZERO else row.payload_digest.hex(),
        "payload": None,
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
    """Read a line of `export_line`. Raises InvalidInput."""
    try:
        data = json.loads(line)
        payload, digest = data["payload"], data["payload_digest"]
        return ChainRow(
            stream=data["stream"],
            seq=data["seq"],
            kind=data["kind"],
            fields=dict(data["fields"]),
            body=_bytes(data["body"]),
            payload_digest=ZERO if digest is None else bytes.fromhex(digest),
            payload=None
            if payload is None
            else Payload(
                salt=bytes.fromhex(payload["salt"]),
                answer=_bytes(payload["answer"]),
                request=_bytes(payload["request"]),
            ),
            hash=bytes.fromhex(data["hash"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"not a line of a ledger export ({error})") from error


def verify_export(lines: Iterable[str], *, expected: Head | None = None) -> ChainReport:
    """Verify an exported ledger without its store; an export may leave payloads out.

    Payloads that were left out are not looked for: an export made without them still verifies.
    """
    verifier: ChainVerifier | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = read_export_line(line)
        except InvalidInput as error:
            verifier = verifier or ChainVerifier("", expected=expected)
            verifier.reject(number, f"line {number}: {error.message}")
            break
        verifier = verifier or ChainVerifier(row.stream, expected=expected)
        if not verifier.add(row):
            break
    return (verifier or ChainVerifier("", expected=expected)).finish()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
