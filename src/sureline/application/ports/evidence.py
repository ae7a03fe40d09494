"""A pack of evidence as it is written and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from sureline.core.chain import ChainRow
from sureline.core.evidence import Period
from sureline.core.evidence_manifest import Listed, Stretch


class PackWriter(Protocol):
    """Takes the files of a pack, one after the other."""

    def add(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of these lines."""

    def listed(self) -> Mapping[str, Listed]:
        """Return what was written so far."""


class PackReader(Protocol):
    """A pack that was opened; everything that is read is bounded."""

    where: str

    def listed(self) -> Mapping[str, Listed]:
        """Read every file once and return its length and digest. Raises InvalidInput."""

    def read(self, name: str) -> bytes:
        """Return a small file. Raises InvalidInput naming it."""

    def lines(self, name: str) -> Iterator[str]:
        """Yield a file's lines. Raises InvalidInput naming the file and the line."""


class PeriodSource(Protocol):
    """Reads the chain's rows of a period."""

    @property
    def store(self) -> str:
        """Return the identity of the store."""

    def stretches(self, period: Period) -> Mapping[str, Stretch]:
        """Return which part of each stream holds all rows of a period, and maybe others."""

    def rows(self, stream: str, stretch: Stretch) -> Iterator[ChainRow]:
        """Yield the rows of a stretch, in order, with their payloads."""

    def row(self, stream: str, seq: int) -> ChainRow | None:
        """Return the row at a place, with its payload."""
