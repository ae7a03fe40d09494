"""Wire what tells of past cases and makes them quick to search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sureline.adapters.storage.case_vector_rows import (
    EXACT_BELOW,
    LEAST_RECALL,
    indexed_type,
)
from sureline.adapters.storage.case_vectors_status import SqlCaseStatus
from sureline.adapters.storage.store import Store
from sureline.application.ports.clock import Clock
from sureline.application.ports.past_cases import CaseSlice
from sureline.bootstrap.histories import embeds, why_not_beyond
from sureline.bootstrap.plugins import Plugins
from sureline.bootstrap.services import Services
from sureline.core.values.policy import Policy
from sureline.errors import Refused

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a bar: what is done, and how many steps it has (0 for unknown)."""

WHY = {
    "sqlite": "the store is SQLite; more takes PostgreSQL with pgvector",
    "no_extension": "the database has no pgvector 0.8 or later; `sureline cases index` says what "
    "it is missing",
}

STEPS = 1_000
"""Into how many steps the building of an index is divided for a bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStanding:
    """How one slice's cases of one model are searched: `memory`, `exact` or `hnsw`, and why.

    `window` is what the policy in force searches; None for a slice that it does not have.
    """

    slice: CaseSlice
    window: int | None
    how: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStatus:
    """All slices, what is kept in memory of each, and why the database is not searched, if so."""

    in_memory: int
    beyond: str | None
    slices: Sequence[CaseStanding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What was done for a slice: `built`, `rebuilt` (half of one lay there) or `measured`."""

    slice_key: str
    model_id: str
    done: str
    recall: float
    recall_low: float
    queries: int
    is_used: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCases:
    """Tells of a workspace's past cases, takes them into the table and builds indexes."""

    store: Store
    plugins: Plugins
    clock: Clock
    workspace: str

    async def status(self, policy: Policy | None) -> CaseStatus:
        """Return how cases are searched under a policy."""
        beyond = why_not_beyond(self.store)
        found = await SqlCaseStatus(self.store.database).slices(
            self.workspace, in_table=beyond is None
        )
        kept, slices = self.plugins.most_cases, {} if policy is None else policy.slices
        windows = {key: one.history.window for key, one in slices.items()}
        return CaseStatus(
            in_memory=kept,
            beyond=beyond,
            slices=[_standing(one, windows.get(one.slice_key), kept, beyond) for one in found],
        )

    def notes(self, policy: Policy) -> Sequence[str]:
        """Say of each slice whose window is larger than what can be searched that it is."""
        why = why_not_beyond(self.store)
        if why is None:
            return ()
        kept = self.plugins.most_cases
        return [
            f"slice {key}: history.window is {one.history.window:,}, but only the latest {kept:,} "
            f"verdicts can be searched here ({WHY[why]})"
            for key, one in policy.slices.items()
            if one.history.window > kept and embeds(one)
        ]

    async def index(
        self, slice_key: str | None, progress: Progress, *, anew: bool = False
    ) -> Sequence[Indexed]:
        """Take in what is missing; build and measure the indexes of large slices.

        `anew` forgets what was taken in, and builds indexes that are there once more. Raises
        Refused where there is no table.
        """
        table = self.store.case_vectors
        if table is None:
            raise Refused(
                "this store is SQLite: each process searches what it keeps in memory, and there "
                "is nothing to build"
            )
        reason = await table.make()
        if reason is not None:
            raise Refused(
                f"{table.database.where} cannot search past cases: {reason}; ask its owner for "
                f"`CREATE EXTENSION vector` (pgvector 0.8 or later), then try again"
            )
        if anew:
            await table.empty()
        for model_id, dimension in await self.store.remade.models():
            with progress("taking in cases", 0) as advance:
                await table.of_model(model_id, dimension).keep_up(_ALL, advance)
        found = await SqlCaseStatus(self.store.database).slices(self.workspace, in_table=True)
        return [
            await self._indexed(one, progress, anew=anew)
            for one in found
            if slice_key in {None, one.slice_key} and is_large(one, table.exact_below)
        ]

    async def _indexed(self, one: CaseSlice, progress: Progress, *, anew: bool) -> Indexed:
        from sureline.adapters.storage.case_vectors_index import CaseIndexes

        assert self.store.case_vectors is not None
        assert one.index is not None
        indexes, scope, done = CaseIndexes(self.store.case_vectors), one.index.scope, "measured"
        if one.index.state != "there" or anew:
            with progress(f"building the index of {one.slice_key}", STEPS) as advance:
                bar = _Bar(advance)
                had_half = await indexes.build(scope, one.dimension, bar.to)
            done = "rebuilt" if had_half else "built"
        recall = await indexes.measure(scope, one.dimension, self.clock.now())
        return Indexed(
            slice_key=one.slice_key,
            model_id=one.model_id,
            done=done,
            recall=recall.value,
            recall_low=recall.low,
            queries=recall.queries,
            is_used=recall.low >= LEAST_RECALL,
        )


def past_cases_of(services: Services) -> PastCases:
    """Return what tells of the past cases of opened services."""
    return PastCases(
        store=services.store,
        plugins=services.plugins,
        clock=services.clock,
        workspace=services.workspace,
    )


_ALL = 2**62


def is_large(one: CaseSlice, exact_below: int) -> bool:
    """Tell whether an index is worth its while, and can be made: few are compared quickly."""
    is_many = one.index is not None and one.index.stored >= exact_below
    return is_many and indexed_type(one.dimension) is not None


def _standing(one: CaseSlice, window: int | None, kept: int, beyond: str | None) -> CaseStanding:
    """Say how a slice is searched now, by the rules of `beyond.py` and `case_vectors_look.py`."""
    how, why = "memory", "all of the window is in memory"
    if window is None:
        why = "the policy in force does not have this slice"
    elif min(window, one.recorded) > kept and beyond is not None:
        why = f"{beyond}: older cases of the window are not searched"
    elif min(window, one.recorded) > kept:
        how, why = _in_database(one, window)
    return CaseStanding(slice=one, window=window, how=how, why=why)


def _in_database(one: CaseSlice, window: int) -> tuple[str, str]:
    index = one.index
    if index is None or min(window, index.stored) < EXACT_BELOW:
        return "exact", f"fewer than {EXACT_BELOW:,} cases"
    if index.state != "there":
        return "exact", f"index: {index.state}; `sureline cases index` builds it"
    if index.recall_low is None:
        return "exact", "the index is not measured; `sureline cases index` does it"
    if index.recall_low < LEAST_RECALL:
        return "exact", f"the index finds too little: at least {index.recall_low:.3f}"
    return "hnsw", f"recall {index.recall:.3f}, at least {index.recall_low:.3f}"


class _Bar:
    """Moves a bar on to a share of its end; never back."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._at = 0

    def to(self, share: float) -> None:
        steps = round(share * STEPS)
        if steps > self._at:
            self._advance(steps - self._at)
            self._at = steps
