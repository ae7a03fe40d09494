"""Takes verdicts and deletions from the ledger into the table of past cases on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sureline.adapters.storage.case_vector_rows import (
    CURSOR,
    FILLING,
    FORGET,
    NEW_SCOPE,
    PUT,
    SCOPES_OF,
    SET_CURSOR,
    as_text,
)
from sureline.adapters.storage.past_cases import next_cases
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.cases import PastCase
from sureline.core.gate.vectors import usable_vector

STEP = 500
"""Verdicts per transaction: for so long nobody else can write a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The place in the ledger up to which cases were taken in, and how many these were."""

    cursor: int
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FillCaseVectors:
    """The job of taking in the next verdicts of one embedding model.

    It reads and writes under the lock of the store, so that nothing that is erased meanwhile comes
    back, and whoever else fills the table goes on where this ended.
    """

    model_id: str
    dimension: int
    most: int = STEP

    def __call__(self, transaction: Transaction) -> Filled:
        """Take them in; the same ones once more change nothing."""
        model = (self.model_id, self.dimension)
        row = transaction.first(CURSOR, model)
        before = 0 if row is None else row[0]
        cases, reached = next_cases(
            transaction.all,
            transaction.stream_of("outcome"),
            before,
            self.model_id,
            most=self.most,
        )
        if reached > before:
            transaction.first(FILLING)
            self._write(transaction, cases)
            transaction.run(SET_CURSOR, (*model, reached))
        return Filled(cursor=max(before, reached), cases=len(cases))

    def _write(self, transaction: Transaction, cases: Sequence[PastCase]) -> None:
        """Write the last word on each case; the order among different ones is that of `mark`."""
        scopes = _Scopes(transaction, self.model_id, self.dimension)
        put: list[tuple[Any, ...]] = []
        forgotten: list[tuple[Any, ...]] = []
        last = {(case.workspace, case.slice_key, case.decision_id): case for case in cases}
        for case in last.values():
            scope = scopes.number(case)
            if scope is None:
                continue
            if case.approved is None:
                forgotten.append((scope, case.decision_id))
            else:
                vector = usable_vector(case.vector, self.dimension)
                written = None if vector is None else as_text(vector)
                put.append((scope, case.decision_id, case.cursor, case.approved, written))
        transaction.run_many(PUT, put)
        transaction.run_many(FORGET, forgotten)


class _Scopes:
    """Numbers workspace and slice of a model's cases; new ones are numbered when they come."""

    def __init__(self, transaction: Transaction, model_id: str, dimension: int) -> None:
        self._transaction = transaction
        self._model = (model_id, dimension)
        rows = transaction.all(SCOPES_OF, self._model)
        self._numbers: dict[tuple[str, str], int] = {
            (workspace, slice_key): number for workspace, slice_key, number in rows
        }

    def number(self, case: PastCase) -> int | None:
        """Return the number of a case's slice; None for a deletion where there are no cases."""
        scope = (case.workspace, case.slice_key)
        if scope not in self._numbers:
            if case.approved is None or not all(scope):
                return None
            found = self._transaction.first(NEW_SCOPE, (*scope, *self._model))
            assert found is not None
            self._numbers[scope] = found[0]
        return self._numbers[scope]
