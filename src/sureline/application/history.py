"""Look up what people said of similar past cases (G8)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureline.application.ports.cases import CaseIndex
from sureline.application.ports.embedder import Embedder
from sureline.core.canonical import json_bytes
from sureline.core.checks.parse import parse_output
from sureline.core.checks.paths import ABSENT, parse_path, walk
from sureline.core.gate.history import NAME, history_signal
from sureline.core.gate.vectors import vector_fault
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import EmbeddingFailed

CONTENT_WEIGHT = np.float32(2.0)
"""How much more what is particular to a case counts than its task.

As one text, a prompt of 1,000 characters drowns an invoice's fields: similarities of all cases
then lie within .004. Weighted apart, their spread is the same (.06) whatever the prompt's length,
and the similarity floor keeps its meaning (docs/explanation/history.md).
"""

LOOK_UP_SECONDS = 30.0
"""How long a look-up may take where the proposal states no deadline (G32)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseText:
    """What is embedded of a proposal: its task, and what is particular to it (may be empty)."""

    task: str
    content: str


def case_text(proposal: Proposal, policy: SlicePolicy) -> CaseText:
    """Return the task with the policy's key fields of the output, else with the source.

    Sources that no trusted caller delivered are left out: an agent could make them up to look
    like what was approved before (G34). Verdicts or tags written in a text are only text (H11).
    """
    content = _key_fields(proposal.output, policy)
    if not content:
        content = "\n".join(source.text for source in proposal.source if source.trusted)
    return CaseText(task=proposal.task, content=content)


class HistorySource:
    """Embeds proposals and looks up similar past cases with a human verdict.

    `embedder` and `index` belong to the same model.
    """

    def __init__(self, *, embedder: Embedder, index: CaseIndex) -> None:
        self._embedder = embedder
        self._index = index
        self._mark = -1
        self._refreshing: tuple[int, asyncio.Task[None]] | None = None

    async def look_up(
        self, proposal: Proposal, policy: SlicePolicy, verdict_mark: int
    ) -> tuple[Signal, bytes | None, str]:
        """Return the signal `history`, the vector to store with the decision, and its model id.

        A task that no trusted caller vouches for is not looked up: `not_applicable(claimed_task)`,
        and a person decides. The vector is None when there is none that can be used. Never raises
        for what can go wrong here; the signal then is `failed` and a person decides (H13, G15):
        `empty_text`, `embedding_failed`, `bad_vector`, `search_failed`, `deadline`. New verdicts
        are taken in first when `verdict_mark` has grown.
        """
        model_id = self._embedder.model_id
        if not proposal.trusted:
            # An agent could word its task like what was approved before (G34).
            claimed = Signal.not_applicable(NAME, SignalKind.HISTORICAL, "claimed_task")
            return claimed, None, model_id
        seconds = LOOK_UP_SECONDS if proposal.deadline is None else proposal.deadline
        until = _loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                vector = await self._embed(case_text(proposal, policy))
        except Exception as error:  # noqa: BLE001 - an embedder is a plug-in and may raise anything
            return _failed("embedding_failed", proposal, error), None, model_id
        fault = vector_fault(vector, self._embedder.dimension)
        if fault:
            return _failed(fault, proposal), None, model_id
        stored = vector.astype("<f4", copy=False).tobytes()
        try:
            async with asyncio.timeout_at(until):
                signal = await self._search(proposal, policy, vector, verdict_mark)
        except Exception as error:  # noqa: BLE001 - no fault of an index may stop a decision
            return _failed("search_failed", proposal, error), stored, model_id
        return signal, stored, model_id

    async def _embed(self, text: CaseText) -> NDArray[np.float32]:
        texts = [text.task, text.content] if text.content else [text.task]
        rows = await self._embedder.embed(texts)
        if rows.shape != (len(texts), self._embedder.dimension) or rows.dtype != np.float32:
            raise EmbeddingFailed(f"the embedder gave {rows.dtype} of shape {rows.shape}")
        vector: NDArray[np.float32] = rows[0]
        return _joined(vector, rows[1]) if text.content else vector

    async def _search(
        self, proposal: Proposal, policy: SlicePolicy, vector: NDArray[np.float32], mark: int
    ) -> Signal:
        await self._take_in(mark)
        found = await self._index.search(
            workspace=proposal.workspace,
            slice_key=proposal.slice_key,
            vector=vector,
            k=policy.history.neighbours,
            window=policy.history.window,
        )
        return history_signal(found, policy.history)

    async def _take_in(self, mark: int) -> None:
        """Refresh the index if there are new verdicts; callers of the same loop share one run."""
        if mark <= self._mark:
            return
        running = self._refreshing
        if running is None or running[0] < mark or running[1].get_loop() is not _loop():
            running = self._refreshing = (mark, _loop().create_task(self._index.refresh()))
        try:
            # Shielded: a caller that gives up must not take the others' refresh with it.
            await asyncio.shield(running[1])
        finally:
            if running[1].done() and self._refreshing is running:
                self._refreshing = None
        self._mark = max(self._mark, mark)


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _key_fields(output: Any, policy: SlicePolicy) -> str:
    """Write the declared fields that are there, one a line; "" when there are none."""
    if not policy.history.fields:
        return ""
    parsed = parse_output(output, structured=policy.checks.structured)
    if not parsed.ok:
        return ""
    lines = [
        f"{where}: {value if isinstance(value, str) else json_bytes(value).decode()}"
        for field in policy.history.fields
        for where, value in walk(parsed.value, parse_path(field))
        if value is not ABSENT and value is not None
    ]
    return "\n".join(lines)


def _joined(task: NDArray[np.float32], content: NDArray[np.float32]) -> NDArray[np.float32]:
    # What is not finite stays so and is refused by its caller.
    with np.errstate(all="ignore"):
        joined: NDArray[np.float32] = task + CONTENT_WEIGHT * content
        length = np.sqrt(joined @ joined)
        return joined / length if length else joined


def _failed(reason: str, proposal: Proposal, error: Exception | None = None) -> Signal:
    sources = sum(len(source.text) for source in proposal.source)
    detail: dict[str, Any] = {"characters": len(proposal.task) + sources}
    if error is not None:
        detail["error"] = type(error).__name__
    late = isinstance(error, TimeoutError)
    return Signal.failed(NAME, SignalKind.HISTORICAL, "deadline" if late else reason, detail=detail)
