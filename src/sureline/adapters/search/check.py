"""The index's self-check: it holds what the ledger holds and finds what brute force finds (H15)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from sureline.adapters.search.exact import CaseSource, ExactCaseIndex, Scope
from sureline.application.ports.cases import PastCase
from sureline.core.gate.vectors import usable_vector
from sureline.errors import StoreCorrupt

_K = 10
_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """How many cases the index has and should have, and how much disagreed.

    `disagreements` counts slices with another number of cases, and queries answered otherwise or
    not at all. `stored` cases lie in the database's table, of which `wrong` disagree (those that
    are missing there included). `holes` are the cases whose vector cannot be used, by workspace and
    decision: nobody knows which model's they were, so each model misses them; they count once.
    """

    cases: int
    expected: int
    queries: int
    disagreements: int
    stored: int = 0
    wrong: int = 0
    holes: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)

    @property
    def ok(self) -> bool:
        """Tell whether the index may be trusted."""
        return self.cases == self.expected and not self.disagreements and not self.wrong

    def __add__(self, other: CheckReport) -> CheckReport:
        """Return both together."""
        return CheckReport(
            cases=self.cases + other.cases,
            expected=self.expected + other.expected - len(self.holes & other.holes),
            queries=self.queries + other.queries,
            disagreements=self.disagreements + other.disagreements,
            stored=self.stored + other.stored,
            wrong=self.wrong + other.wrong,
            holes=self.holes | other.holes,
        )


async def check(
    index: ExactCaseIndex, source: CaseSource, *, queries: int = 16, seed: int = 0
) -> CheckReport:
    """Compare `index` with everything that `source` holds, and `queries` searches with brute force.

    A query is a stored vector; it agrees when the best similarities are the same within 1e-4.
    Cases beyond what the index keeps are not expected of it; one whose stored vector cannot be
    used is, so that damage is told.
    """
    expected = await _replay(index, source)
    sizes = index.sizes
    wrong_counts = sum(
        len(expected.get(scope, ())) != sizes.get(scope, 0) for scope in expected.keys() | sizes
    )
    random = np.random.default_rng(seed)
    scopes = sorted(expected)
    disagreements, asked = wrong_counts, 0
    for _ in range(queries if scopes else 0):
        scope = scopes[int(random.integers(len(scopes)))]
        asked += 1
        vectors = [case.vector for case in expected[scope]]
        disagreements += not await _agrees(index, scope, vectors, random)
    return CheckReport(
        cases=sum(sizes.values()),
        expected=sum(map(len, expected.values())),
        queries=asked,
        disagreements=disagreements,
        holes=frozenset(
            (case.workspace, case.decision_id)
            for cases in expected.values()
            for case in cases
            if usable_vector(case.vector, index.dimension) is None
        ),
    )


async def _replay(index: ExactCaseIndex, source: CaseSource) -> dict[Scope, list[PastCase]]:
    """Return the cases that the index should have, oldest first."""
    live: dict[Scope, dict[str, PastCase]] = {}
    cursor = 0
    while cases := await source.cases_since(cursor, index.model_id):
        for case in cases:
            scope = live.setdefault((case.workspace, case.slice_key), {})
            scope.pop(case.decision_id, None)
            if case.approved is not None and case.model_id == index.model_id:
                scope[case.decision_id] = case
        cursor = cases[-1].cursor
    return {scope: list(latest.values())[-index.most :] for scope, latest in live.items() if latest}


async def _agrees(
    index: ExactCaseIndex, scope: Scope, stored: Collection[bytes], random: np.random.Generator
) -> bool:
    """Tell whether a random stored vector's best similarities are those of all cosines."""
    read = [usable_vector(vector, index.dimension) for vector in stored]
    vectors = [vector for vector in read if vector is not None]
    if len(vectors) < len(stored):
        return False
    query = vectors[int(random.integers(len(vectors)))]
    workspace, slice_key = scope
    try:
        found = await index.search(
            workspace=workspace,
            slice_key=slice_key,
            vector=query,
            k=min(_K, len(vectors)),
            window=index.most,
        )
    except StoreCorrupt:
        return False
    cosines = np.stack(vectors).astype(np.float64) @ query.astype(np.float64)
    # Near-duplicates count once, so the search's similarities are a part of brute force's.
    return (
        bool(found.neighbours)
        and abs(found.neighbours[0].similarity - cosines.max()) < _TOLERANCE
        and all(np.abs(cosines - near.similarity).min() < _TOLERANCE for near in found.neighbours)
    )
