"""Look up what people said of similar past cases (G8)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureline.application.case_vectors import CaseText as CaseText
from sureline.application.case_vectors import case_text as case_text
from sureline.application.case_vectors import case_vectors
from sureline.application.fresh_index import FreshIndex, Remade
from sureline.application.kept_vectors import KeptVectors
from sureline.application.ports.cases import CaseIndex
from sureline.application.ports.embedder import Embedded, EmbeddingModel
from sureline.core.gate.history import NAME, history_signal
from sureline.core.gate.vectors import vector_fault
from sureline.core.values.model_card import ModelCard
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import EmbeddingFailed

LOOK_UP_SECONDS = 30.0
"""How long a look-up may take where the proposal states no deadline (G32)."""

MOST_INDEXES = 8
"""Models whose cases are in memory at once; beyond, the one that was used longest ago goes."""

OpenIndex = Callable[[str, int], CaseIndex]
"""Opens the index of one embedding model, given its id and dimension."""


class HistorySource:
    """Embeds proposals and looks up similar past cases with a human verdict.

    The slice's policy names the embedder; `model_for` knows it by that name. Each model has an
    index of its own, bound to its id and dimension, so vectors of two models never meet.
    """

    def __init__(
        self,
        *,
        model_for: Callable[[str], EmbeddingModel],
        open_index: OpenIndex,
        remade: Remade,
    ) -> None:
        self._model_for = model_for
        self._open_index = open_index
        self._remade = remade
        self._models: dict[str, KeptVectors] = {}
        self._indexes: OrderedDict[tuple[str, int], FreshIndex] = OrderedDict()

    async def look_up(
        self, proposal: Proposal, policy: SlicePolicy, verdict_mark: int
    ) -> tuple[Signal, bytes | None, str | None]:
        """Return the signal `history`, the vector to store with the decision, and its model id.

        A task that no trusted caller vouches for is not looked up: `not_applicable(claimed_task)`,
        and a person decides. Vector and model id are None when there is no vector that can be
        used. Never raises for what can go wrong here; the signal then is `failed` and a person
        decides (H13, G15): `empty_text`, `embedding_failed`, `bad_vector`, `search_failed`,
        `deadline`. New verdicts are taken in first when `verdict_mark` has grown.
        """
        if not proposal.trusted:
            # An agent could word its task like what was approved before (G34).
            claimed = Signal.not_applicable(NAME, SignalKind.HISTORICAL, "claimed_task")
            return claimed, None, None
        seconds = LOOK_UP_SECONDS if proposal.deadline is None else proposal.deadline
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                found = await self._embed(proposal, policy)
        except Exception as error:  # noqa: BLE001 - an embedder is a plug-in and may raise anything
            failed = _failed("embedding_failed", proposal, error)
            return _carded(failed, policy.history.embedder), None, None
        vector: NDArray[np.float32] = found.rows[0]
        fault = vector_fault(vector, found.dimension)
        if fault:
            return _failed(fault, proposal), None, None
        stored = vector.astype("<f4", copy=False).tobytes()
        try:
            async with asyncio.timeout_at(until):
                signal = await self._search(proposal, policy, found, verdict_mark)
        except Exception as error:  # noqa: BLE001 - no fault of an index may stop a decision
            signal = _failed("search_failed", proposal, error)
        return _carded(signal, policy.history.embedder, found), stored, found.model_id

    async def _embed(self, proposal: Proposal, policy: SlicePolicy) -> Embedded:
        name = policy.history.embedder
        model = self._models.get(name)
        if model is None:
            model = self._models[name] = KeptVectors(self._model_for(name))
        return await case_vectors(model, [case_text(proposal, policy)])

    async def _search(
        self, proposal: Proposal, policy: SlicePolicy, found: Embedded, mark: int
    ) -> Signal:
        fresh = self._index_of(found)
        await fresh.take_in(mark)
        neighbourhood = await fresh.index.search(
            workspace=proposal.workspace,
            slice_key=proposal.slice_key,
            vector=found.rows[0],
            k=policy.history.neighbours,
            window=policy.history.window,
        )
        signal = history_signal(neighbourhood, policy.history)
        return replace(signal, detail={**signal.detail, **neighbourhood.searched.detail})

    def _index_of(self, found: Embedded) -> FreshIndex:
        key = (found.model_id, found.dimension)
        fresh = self._indexes.get(key)
        if fresh is None:
            fresh = self._indexes[key] = FreshIndex(
                lambda: self._open_index(*key), self._remade, self._forget
            )
            if len(self._indexes) > MOST_INDEXES:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(key)
        return fresh

    def _forget(self) -> None:
        """Drop vectors of texts that were just embedded: a payload was erased."""
        for model in self._models.values():
            model.forget()


def _carded(signal: Signal, name: str, found: Embedded | None = None) -> Signal:
    """Say which model a provider answered with: another one is another measurement (L5)."""
    if ":" not in name:
        return signal
    answered, usage = (None, None) if found is None else (found.answered, found.usage)
    card = ModelCard(asked=name, answered=answered, usage=usage)
    return replace(signal, detail={**signal.detail, **card.detail})


def _failed(reason: str, proposal: Proposal, error: Exception | None = None) -> Signal:
    sources = sum(len(source.text) for source in proposal.source)
    detail: dict[str, Any] = {"characters": len(proposal.task) + sources}
    if error is not None:
        detail["error"] = type(error).__name__
        if isinstance(error, EmbeddingFailed) and error.reason is not None:
            detail["cause"] = error.reason
    late = isinstance(error, TimeoutError)
    return Signal.failed(NAME, SignalKind.HISTORICAL, "deadline" if late else reason, detail=detail)
