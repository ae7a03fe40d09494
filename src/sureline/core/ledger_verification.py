"""Verifies a ledger of several streams: one common chain, and one of each writer of decisions.

Seals in the common chain say where the others stood, so that one head written down elsewhere
commits to all of them, up to the last seal. What was written after it cannot be seen to be cut off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sureline.core.chain import ChainRow, Head
from sureline.core.chain_verification import (
    ChainReport,
    ChainVerifier,
    Fault,
    FaultKind,
    PayloadTally,
)
from sureline.core.values.counted import counted


class LedgerVerifier:
    """Takes the rows of all streams, each stream's in order; the common stream's come first.

    `common` is None where the first row tells (an export). `expected` is a head of the common
    stream. `since` is where streams were verified up to before, so that they are read from there;
    `earlier` the same where all is read again: they must still run through it.
    """

    def __init__(
        self,
        common: str | None,
        *,
        expected: Head | None = None,
        since: Mapping[str, Head] | None = None,
        earlier: Mapping[str, Head] | None = None,
    ) -> None:
        self.payloads = PayloadTally()
        self._expected = expected
        self._since, self._earlier = since or {}, earlier or {}
        self._common = common
        self._chains: dict[str, ChainVerifier] = {}

    @property
    def intact(self) -> bool:
        """Tell whether no fault was found so far."""
        return all(chain.fault is None for chain in self._chains.values())

    @property
    def named(self) -> frozenset[str]:
        """Return the streams that must be there: of the seals read so far, or verified before."""
        sealed = self._chains[self._common].sealed if self._common in self._chains else ()
        return frozenset((*sealed, *self._since, *self._earlier))

    def chain(self, stream: str) -> ChainVerifier:
        """Return the verifier of one stream."""
        if self._common is None:
            self._common = stream
        if stream not in self._chains:
            is_common = stream == self._common
            sealed = {} if is_common else self.chain(self._common).sealed
            self._chains[stream] = ChainVerifier(
                stream,
                start=self._since.get(stream),
                expected=self._expected if is_common else sealed.get(stream),
                earlier=self._earlier.get(stream),
                payloads=self.payloads,
            )
        return self._chains[stream]

    def add(self, row: ChainRow) -> bool:
        """Take the next row of its stream; False once a fault was found."""
        return self.intact and self.chain(row.stream).add(row)

    def reject(self, seq: int, message: str) -> None:
        """Record that a row could not be read at all."""
        self.chain(self._common or "").reject(seq, message)

    def finish(self, known_heads: dict[str, Head] | None = None) -> ChainReport:
        """Say what was seen; `known_heads` are where the store itself believes the streams end."""
        common = self.chain(self._common or "")
        for stream in sorted(self.named):
            self.chain(stream)
        reports = {
            stream: chain.finish((known_heads or {}).get(stream))
            for stream, chain in self._chains.items()
        }
        first = reports.pop(self._common or "")
        faults = [
            replace(one.fault, message=f"{one.fault.message} (stream {stream!r})")
            for stream, one in sorted(reports.items())
            if one.fault is not None
        ]
        fault = first.fault or next(iter(faults), None) or self._vanished()
        return replace(
            first,
            rows=first.rows + sum(one.rows for one in reports.values()),
            ok=fault is None,
            fault=fault,
            erased=self.payloads.erased,
            cannot_see=(*first.cannot_see, *self._unsealed(common, reports)),
            heads={stream: chain.head for stream, chain in self._chains.items() if chain.seq},
        )

    def _vanished(self) -> Fault | None:
        if not self.payloads.unexplained:
            return None
        stream, seq = min(self.payloads.unexplained)
        return Fault(
            seq=seq,
            kind=FaultKind.PAYLOAD_MISSING,
            message=f"the payload of row {seq} of {stream!r} is gone and no erasure says so",
        )

    def _unsealed(self, common: ChainVerifier, reports: dict[str, ChainReport]) -> tuple[str, ...]:
        tails = [
            one.head.seq - common.sealed.get(stream, Head()).seq for stream, one in reports.items()
        ]
        rows = sum(tail for tail in tails if tail > 0)
        if not rows:
            return ()
        return (f"whether the last {counted(rows, 'decision')} were more: no seal covers them yet",)
