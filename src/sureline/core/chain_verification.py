"""Verifies a chain row by row and names the first place where it does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sureline.core.chain import (
    ERASURE,
    SEAL,
    ZERO,
    ChainRow,
    Head,
    canonical_fields,
    erased_places,
    heads_in,
    row_hash,
)
from sureline.errors import InvalidInput


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
    plain words what this verification could not have noticed. `heads` is where each stream ends.
    """

    rows: int
    head: Head
    ok: bool
    fault: Fault | None
    erased: int
    cannot_see: tuple[str, ...]
    heads: Mapping[str, Head] = field(default_factory=dict)


class PayloadTally:
    """Counts payloads that are gone, and tells those that an erasure explains from the others.

    Its memory grows with payloads whose erasure comes later, and with the erasures of other
    streams' rows, which may be read after them.
    """

    def __init__(self) -> None:
        self.erased = 0
        self.omitted = 0
        self.unexplained: set[tuple[str, int]] = set()
        self.on_record: set[tuple[str, int]] = set()

    def add(self, row: ChainRow) -> None:
        """Take the next row of the chain."""
        if row.payload_omitted:
            self.omitted += 1
        elif row.payload is None and row.payload_digest != ZERO:
            self.unexplained.add((row.stream, row.seq))
            if (row.stream, row.seq) in self.on_record:
                self._explain({(row.stream, row.seq)})
        if row.kind == ERASURE:
            named = set(erased_places(row))
            self.on_record |= {place for place in named if place[0] != row.stream}
            self._explain(self.unexplained & named)

    def _explain(self, places: set[tuple[str, int]]) -> None:
        self.erased += len(places)
        self.unexplained -= places


class ChainVerifier:
    """Verifies rows one by one in the order of `seq`.

    `expected` is a head written down earlier, outside the store or by a seal, and `earlier` where
    the chain stood when it was verified before: it must run through both. `payloads` is shared
    where erasures stand in another stream than what they erased. `sealed` is where other streams
    stood at the last seals of this one.
    """

    def __init__(
        self,
        stream: str,
        *,
        start: Head | None = None,
        expected: Head | None = None,
        earlier: Head | None = None,
        payloads: PayloadTally | None = None,
    ) -> None:
        self._stream = stream
        self._head = start or Head()
        self._expected = expected
        self._wanted = (
            (expected, "the expected head"),
            (earlier, "the row that was verified before"),
        )
        self._from_start = start is None
        self._rows = 0
        self.payloads = payloads or PayloadTally()
        self.sealed: Mapping[str, Head] = {}
        self.fault: Fault | None = None

    def add(self, row: ChainRow) -> bool:
        """Take the next row; False once a fault was found, and then nothing more is looked at."""
        if self.fault is None:
            self.fault = self._misplaced(row) or self._altered(row) or self._off_course(row)
        if self.fault is not None:
            return False
        self._rows += 1
        self._head = Head(seq=row.seq, hash=row.hash)
        self.payloads.add(row)
        if row.kind == SEAL:
            self.sealed = {**self.sealed, **heads_in(row.body)}
        return True

    @property
    def seq(self) -> int:
        """Return the number of the last row that was taken."""
        return self._head.seq

    @property
    def head(self) -> Head:
        """Return the last row that was taken."""
        return self._head

    def reject(self, seq: int, message: str) -> None:
        """Record that a row could not be read at all."""
        self.fault = self.fault or Fault(seq=seq, kind=FaultKind.UNREADABLE, message=message)

    def finish(self, known_head: Head | None = None) -> ChainReport:
        """Say what was seen; `known_head` is where the store itself believes the chain ends."""
        fault = self.fault or self._wrong_end(known_head) or self._vanished_payload()
        return ChainReport(
            rows=self._rows,
            head=self._head,
            ok=fault is None,
            fault=fault,
            erased=self.payloads.erased,
            cannot_see=self._blind_spots(),
            heads={self._stream: self._head},
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
            return Fault(
                seq=row.seq,
                kind=FaultKind.CHANGED,
                message=f"row {row.seq} ({row.kind}) cannot be what was written: {error.message}",
            )
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
        for wanted, whose in self._wanted:
            if wanted is not None and row.seq == wanted.seq and row.hash != wanted.hash:
                return Fault(
                    seq=row.seq,
                    kind=FaultKind.CHANGED,
                    message=f"row {row.seq} has another hash than {whose}",
                )
        return None

    def _wrong_end(self, known_head: Head | None) -> Fault | None:
        last = self._head.seq
        if known_head is not None and known_head.seq < last:
            return Fault(
                seq=known_head.seq + 1,
                kind=FaultKind.EXTRA,
                message=f"the store recorded row {known_head.seq} as its head; "
                f"the rows up to {last} are beyond it",
            )
        ends = (*self._wanted, (known_head, "the head that the store recorded"))
        faults = (self._off_end(wanted, whose) for wanted, whose in ends)
        return next((fault for fault in faults if fault is not None), None)

    def _off_end(self, wanted: Head | None, whose: str) -> Fault | None:
        if wanted is None or wanted.seq < self._head.seq or wanted == self._head:
            return None
        if wanted.seq > self._head.seq:
            return Fault(
                seq=self._head.seq + 1,
                kind=FaultKind.CUT,
                message=f"the chain ends at row {self._head.seq}; {whose} is row {wanted.seq}",
            )
        return Fault(
            seq=wanted.seq,
            kind=FaultKind.CHANGED,
            message=f"row {wanted.seq} has another hash than {whose}",
        )

    def _vanished_payload(self) -> Fault | None:
        gone = [seq for stream, seq in self.payloads.unexplained if stream == self._stream]
        if not gone:
            return None
        seq = min(gone)
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
        if self.payloads.omitted:
            spots.append(
                f"the payloads of {self.payloads.omitted} rows, which the export leaves out"
            )
        return tuple(spots)
