"""Compares tables that follow from the ledger with what the ledger says, row by row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sureline.core.values.counted import counted

MOST_EXAMPLES = 3

NOT_CHAINED = (
    "which approvals were used or called back, the state of the queue, the figures and words of "
    "missions beside their states, the API keys, the store's secret, and when jobs or "
    "verifications last ran: they are no part of the chain",
    "whether each decision is kept under the subject that its payload names, and all that name one "
    "are: an erasure by subject goes by a table that is no part of the chain",
    "vectors of decisions without a verdict, which the search for similar cases does not use",
    "whether vectors made anew (`sureline reembed`) are all there and were made of what they stand "
    "for: each has a digest of its own, which shows damage, but they are no part of the chain",
    "whether what was recorded was true: a wrong label, or a clock that was set back",
)
"""What no verification sees, whether it reads the store or an export of it."""

NOT_EXPORTED = (
    "the tables that certificates rest on (labels and counts), which an export leaves out: "
    "`sureline ledger verify` on the store compares them"
)
"""What the verification of an export cannot see besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row that differs: what is stored under its key, and what the ledger says; None: no row."""

    key: tuple[str, ...]
    stored: str | None
    expected: str | None

    def __str__(self) -> str:
        stored, expected = self.stored or "nothing", self.expected or "nothing"
        return f"{' '.join(self.key)}: {stored} is stored, {expected} by the ledger"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """How one derived table compares: `rows` by the ledger, how many differ, and the first few."""

    table: str
    rows: int
    differing: int
    examples: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Tell whether the table is what the ledger says."""
        return not self.differing

    @property
    def sentence(self) -> str:
        """Say what differs, or that nothing does."""
        if self.ok:
            return f"{self.table}: {counted(self.rows, 'row')}, as the ledger says"
        examples = "; ".join(map(str, self.examples))
        rows = counted(self.differing, "row")
        return f"{self.table}: not as the ledger says in {rows}: {examples}"


class TableComparison:
    """Takes the rows of one table one by one; memory does not grow with them."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._rows = 0
        self._differing = 0
        self._examples: list[Difference] = []

    def add(self, key: Sequence[Any], stored: object, expected: object) -> None:
        """Compare what is stored under `key` with what the ledger says; None is no row."""
        self._rows += expected is not None
        if stored == expected:
            return
        self._differing += 1
        if len(self._examples) < MOST_EXAMPLES:
            found = Difference(
                key=tuple(map(_writable, key)), stored=_text(stored), expected=_text(expected)
            )
            self._examples.append(found)

    def report(self) -> TableReport:
        """Return what was seen."""
        return TableReport(
            table=self._table,
            rows=self._rows,
            differing=self._differing,
            examples=tuple(self._examples),
        )


def compare_counts(
    table: str,
    expected: MutableMapping[tuple[Hashable, ...], int] | dict[tuple[Any, ...], tuple[int, ...]],
    stored: Iterable[Sequence[Any]],
) -> TableReport:
    """Compare stored counts, each row its key and then its figure or figures, with the expected.

    `expected` is emptied on the way. A count of 0 is as good as no row.
    """
    comparison = TableComparison(table)
    for *key, number in stored:
        wanted = expected.pop(tuple(key), None)
        comparison.add(key, None if number == 0 else number, wanted)
    for key_left, wanted in expected.items():
        comparison.add(key_left, None, wanted)
    expected.clear()
    return comparison.report()


def compare_workspaces(table: str, rows: int, wrong: Iterable[Sequence[Any]]) -> TableReport:
    """Return how the workspaces of a table's rows compare.

    `wrong` yields those that differ: stream, number, the workspace stored, the ledger's.
    """
    comparison = TableComparison(table)
    for stream, seq, stored, expected in wrong:
        comparison.add((stream, seq), stored, expected)
    return replace(comparison.report(), rows=rows)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return " ".join(map(_writable, value)) if isinstance(value, tuple) else _writable(value)


def _writable(value: object) -> str:
    """Return a value as text that every file can hold, bytes that are no text spelled out."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
