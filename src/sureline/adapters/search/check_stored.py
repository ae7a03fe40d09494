"""The same check for cases in the database: they are what the ledger says, and are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.check import CheckReport
from sureline.adapters.search.exact import CaseSource, Scope
from sureline.application.ports.cases import PastCase, StoredCase, StoredCases
from sureline.core.gate.vectors import usable_vector
from sureline.errors import StoreCorrupt

_K = 10
_TOLERANCE = 1e-4
_EVER = 2**40
"""A window that no slice reaches."""

Contents = Mapping[Scope, Mapping[str, StoredCase]]


async def check_stored(
    report: CheckReport, stored: StoredCases, source: CaseSource, *, model_id: str, dimension: int
) -> CheckReport:
    """Add to `report` how many cases the database has and how many of them are wrong.

    Wrong are cases that are missing, too many, or not what `source` says; and searches for one
    stored vector of each slice that do not find it. What came in after the table was last filled is
    not expected of it.
    """
    cursor, found = await stored.contents()
    expected, later = await _replay(source, model_id, cursor)
    wrong = sum(
        not _is_same(expected.get(scope, {}).get(name), found.get(scope, {}).get(name), dimension)
        for scope in expected.keys() | found.keys()
        for name in expected.get(scope, {}).keys() | found.get(scope, {}).keys()
        if (scope, name) not in later
    )
    for scope, query in _queries(found):
        wrong += not await _finds(stored, scope, query, cursor)
    return replace(
        report,
        stored=report.stored + sum(map(len, found.values())),
        wrong=report.wrong + wrong,
    )


async def _replay(
    source: CaseSource, model_id: str, until: int
) -> tuple[dict[Scope, dict[str, PastCase]], set[tuple[Scope, str]]]:
    """Return the cases as of `until`, and which have a verdict or deletion after it."""
    live: dict[Scope, dict[str, PastCase]] = {}
    later: set[tuple[Scope, str]] = set()
    cursor = 0
    while cases := await source.cases_since(cursor, model_id):
        for case in cases:
            scope = (case.workspace, case.slice_key)
            live.setdefault(scope, {}).pop(case.decision_id, None)
            if case.cursor > until:
                later.add((scope, case.decision_id))
            elif case.approved is not None and case.model_id == model_id:
                live[scope][case.decision_id] = case
        cursor = cases[-1].cursor
    return live, later


def _is_same(case: PastCase | None, found: StoredCase | None, dimension: int) -> bool:
    if case is None or found is None:
        return False
    vector = usable_vector(case.vector, dimension)
    if vector is None or found.vector is None:
        same = vector is None and found.vector is None
    else:
        same = bool(np.array_equal(vector, found.vector))
    return same and (case.cursor, case.approved) == (found.mark, found.approved)


def _queries(found: Contents) -> Iterator[tuple[Scope, NDArray[np.float32]]]:
    """Yield for each slice a vector that it has; slices with unusable ones cannot be searched."""
    for scope, cases in sorted(found.items()):
        vectors = [case.vector for case in cases.values()]
        usable = [vector for vector in vectors if vector is not None]
        if usable and len(usable) == len(vectors):
            yield scope, usable[len(usable) // 2]


async def _finds(stored: StoredCases, scope: Scope, query: NDArray[np.float32], until: int) -> bool:
    workspace, slice_key = scope
    try:
        best = await stored.best(
            workspace=workspace,
            slice_key=slice_key,
            vector=query,
            wanted=_K,
            window=_EVER,
            until=until,
        )
    except StoreCorrupt:
        return False
    return bool(len(best.vectors)) and float((best.vectors @ query).max()) > 1.0 - _TOLERANCE
