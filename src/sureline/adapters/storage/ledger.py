"""The ledger port on the store's tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from sureline.adapters.storage.append_decision import AppendDecision
from sureline.adapters.storage.audited import AUDITED, DUE, DUE_IN, audited_label, due_audit
from sureline.adapters.storage.batch import LongJob
from sureline.adapters.storage.chain_reader import export, verify
from sureline.adapters.storage.consume_approval import ConsumeApproval
from sureline.adapters.storage.count_queries import (
    LABEL_COUNTS,
    LABELS_OFF_SCALE,
    ROUTE_COUNTS,
    ROUTE_DAYS,
    SCORE_COUNTS,
    counts_of,
)
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.erase_payload import ERASURES, ErasePayload, stored_erasure
from sureline.adapters.storage.import_records import (
    RECORDED,
    ImportRecords,
    recorded_label,
)
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.past_cases import past_cases
from sureline.adapters.storage.past_decisions import PAGE, past_decisions
from sureline.adapters.storage.prior_knowledge import PRIOR
from sureline.adapters.storage.rebuild_counts import rebuild_counts
from sureline.adapters.storage.record_outcome import OUTCOMES_OF, RecordOutcome, stored_outcome
from sureline.adapters.storage.seal import OTHER_STREAMS, Seal
from sureline.adapters.storage.statement import Statement, json_list
from sureline.adapters.storage.stored_decisions import BY_ID, stored_decision
from sureline.adapters.storage.stored_switches import (
    EVERY,
    NEWEST,
    append_switch,
    stored_switch,
)
from sureline.adapters.storage.switch_sources import SwitchSource
from sureline.application.ports.audits import AuditedLabel, DueAudit, Erasure
from sureline.application.ports.cases import PastCase
from sureline.application.ports.ledger import (
    DecisionRecord,
    LabelledRecord,
    PastDecision,
    Prior,
    RecordedLabel,
    RouteDay,
    ScoreCount,
    StoredDecision,
)
from sureline.core.chain import Head
from sureline.core.chain_verification import ChainReport
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Outcome
from sureline.core.values.switch import Switch

_EVER = -(2**62)
"""A moment before any other, in microseconds."""


class SqlLedger:
    """Keeps decisions, outcomes and switches; see the port `Ledger` for the contract."""

    def __init__(self, database: Database, switches: SwitchSource) -> None:
        self._database = database
        self._switches = switches

    async def decision(self, workspace: str, decision_id: str) -> StoredDecision | None:
        """Return a stored decision, or None."""
        rows = await self._database.read(BY_ID, (workspace, decision_id))
        return stored_decision(rows[0]) if rows else None

    async def prior(
        self,
        *,
        workspace: str,
        slice_key: str,
        decision_id: str | None,
        task_digest: bytes,
        retry_of: str | None,
        since: datetime,
    ) -> Prior:
        """Return what is known before measuring; rejections count per workspace and slice."""
        existing = None if decision_id is None else await self.decision(workspace, decision_id)
        found = await self._database.read(
            PRIOR,
            (
                *(workspace, slice_key, task_digest, to_micros(since), workspace, retry_of),
                *[self._database.common_stream] * 3,
            ),
        )
        rejections, chain, verdict_mark, activation_mark = found[0]
        return Prior(
            existing=existing,
            rejections=rejections,
            chain=chain,
            verdict_mark=verdict_mark,
            activation_mark=activation_mark,
        )

    async def switches_on(
        self, workspace: str, slice_key: str, batch_id: str | None
    ) -> Sequence[Switch]:
        """Return the switches that are on for this scope; what cannot be read is on."""
        return await self._switches.on(workspace, slice_key, batch_id)

    async def append(self, record: DecisionRecord) -> StoredDecision:
        """Write a decision durably; an id that exists returns what is stored."""
        return await self._database.write(AppendDecision(record))

    async def consume(self, workspace: str, decision_id: str, at: datetime) -> bool:
        """Mark an approval as used; False if it was used before. Raises NotFound."""
        return await self._database.write(ConsumeApproval(workspace, decision_id, at))

    async def record_outcome(self, outcome: Outcome) -> bool:
        """Append a label and its count; False if it is there. Raises NotFound, Conflict."""
        return await self._database.write(RecordOutcome(outcome))

    async def import_records(self, rows: Sequence[LabelledRecord]) -> Sequence[bool]:
        """Append decisions with their outcomes in one transaction; tell the new."""
        return await self._database.write(ImportRecords(rows))

    async def recorded(self, workspace: str, ids: Sequence[str]) -> Sequence[RecordedLabel]:
        """Return which of these decisions are stored, with their labels."""
        return [
            recorded_label(row)
            for row in await self._database.read(RECORDED, (workspace, json_list(ids)))
        ]

    async def outcomes(self, workspace: str, decision_id: str) -> Sequence[Outcome]:
        """Return a decision's outcomes, oldest first."""
        rows = await self._database.read(OUTCOMES_OF, (workspace, decision_id))
        return [stored_outcome(row) for row in rows]

    async def set_switch(self, switch: Switch) -> None:
        """Append a switch row; it holds from the next decision on, in every process."""
        await self._database.write(partial(append_switch, switch))
        await self._switches.changed()

    async def seal(self, at: datetime) -> bool:
        """Write down where the streams of decisions stand, if one moved since; tell whether."""
        if not await self._database.read(OTHER_STREAMS, (self._database.common_stream,)):
            return False
        return await self._database.write(Seal(at))

    async def switches(self, workspace: str) -> Sequence[Switch]:
        """Return the newest row of every scope."""
        return [stored_switch(row) for row in await self._database.read(NEWEST, (workspace,))]

    async def switch_history(self, workspace: str) -> Sequence[Switch]:
        """Return every switch row, oldest first."""
        return [stored_switch(row) for row in await self._ask(EVERY, (workspace,))]

    async def erasures(self, workspace: str) -> Sequence[Erasure]:
        """Return every erasure, oldest first."""
        return [stored_erasure(row) for row in await self._ask(ERASURES, (workspace,))]

    async def due_audits(
        self, workspace: str, slice_key: str | None, limit: int
    ) -> Sequence[DueAudit]:
        """Return up to `limit` audits that wait for a label, oldest first; None: of any slice."""
        if slice_key is None:
            rows = await self._read_apart(DUE, (workspace, workspace, limit))
        else:
            rows = await self._read_apart(DUE_IN, (workspace, slice_key, limit))
        return [due_audit(row) for row in rows]

    async def audited_labels(
        self, workspace: str, slice_key: str, measurement_hash: str, since: datetime | None = None
    ) -> Sequence[AuditedLabel]:
        """Return the labels of audited decisions made at or after `since`, as they came in."""
        earliest = _EVER if since is None else to_micros(since)
        rows = await self._read_apart(AUDITED, (workspace, slice_key, measurement_hash, earliest))
        return [audited_label(row) for row in rows]

    async def _read_apart(self, statement: Statement, parameters: Sequence[Any]) -> list[Any]:
        """Read what may take a while beside the loop and the other readers."""

        def read() -> list[Any]:
            with self._database.reader() as fetch:
                return fetch(statement, parameters)

        return await asyncio.to_thread(read)

    async def _ask(self, statement: Statement, parameters: Sequence[Any]) -> list[Any]:
        """Read what is short on a file and may be long elsewhere."""
        return await self._database.apart(lambda fetch: fetch(statement, parameters))

    async def label_counts(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int = 0
    ) -> Sequence[LabelCount]:
        """Return the labelled decisions of one slice and measurement, by bin and stratum."""
        rows = await self._ask(LABEL_COUNTS, (workspace, slice_key, measurement_hash, since_week))
        return counts_of(rows)

    async def labels_off_scale(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int = 0
    ) -> int:
        """Return how many labels `label_counts` leaves out for want of a place on the scale."""
        key = (workspace, slice_key, measurement_hash, since_week)
        return int((await self._ask(LABELS_OFF_SCALE, key))[0][0])

    async def score_counts(
        self, workspace: str, slice_key: str, measurement_hash: str
    ) -> Sequence[ScoreCount]:
        """Return all measured decisions of one slice and measurement, by week and bin."""
        rows = await self._ask(SCORE_COUNTS, (workspace, slice_key, measurement_hash))
        return [ScoreCount(week=week, score_bin=place, count=n) for week, place, n in rows]

    async def route_days(self, workspace: str) -> Sequence[RouteDay]:
        """Return the number of decisions by slice, day and route, oldest first."""
        return [
            RouteDay(slice_key=key, day=day, route=route, count=n)
            for key, day, route, n in await self._ask(ROUTE_DAYS, (workspace,))
        ]

    async def past_decisions(
        self, workspace: str, slice_key: str, since: datetime | None = None
    ) -> AsyncIterator[PastDecision]:
        """Stream the slice's decisions with their labels, oldest first; read off the loop."""
        earliest = _EVER if since is None else to_micros(since)
        with self._database.reader() as fetch:
            found = past_decisions(fetch, workspace=workspace, slice_key=slice_key, since=earliest)
            while page := await asyncio.to_thread(lambda: list(islice(found, PAGE))):
                for one in page:
                    yield one

    async def cases_since(self, cursor: int, model_id: str) -> Sequence[PastCase]:
        """Return verdicts and deletions after `cursor`, oldest first; read off the loop."""

        def read() -> Sequence[PastCase]:
            with self._database.reader() as fetch:
                return past_cases(fetch, self._database.common_stream, cursor, model_id)

        return await asyncio.to_thread(read)

    async def route_counts(self, workspace: str) -> dict[str, dict[str, int]]:
        """Return the number of decisions by slice and route."""
        counts: dict[str, dict[str, int]] = {}
        for slice_key, route, count in await self._ask(ROUTE_COUNTS, (workspace,)):
            counts.setdefault(slice_key, {})[route] = int(count)
        return counts

    async def verify(
        self, *, start: Head | None = None, expected: Head | None = None
    ) -> ChainReport:
        """Verify the hash chain, from `start` if that was verified before; read off the loop.

        `expected` is a head written down earlier, outside the store.
        """

        def read() -> ChainReport:
            with self._database.reader() as fetch:
                return verify(fetch, self._database.common_stream, start=start, expected=expected)

        return await asyncio.to_thread(read)

    def export(self, *, payloads: bool = True) -> Iterator[str]:
        """Yield the ledger as lines of JSON for `core.chain_export.verify_export`."""
        with self._database.reader() as fetch:
            yield from export(fetch, self._database.common_stream, payloads=payloads)

    async def erase(
        self, workspace: str, decision_id: str, *, by: str, reason: str, at: datetime
    ) -> bool:
        """Erase a decision's payload, vector and comments, and record that, in the chain.

        False if there is nothing left to erase. Raises NotFound.
        """
        return await self._database.write(
            ErasePayload(workspace=workspace, decision_id=decision_id, by=by, reason=reason, at=at)
        )

    async def rebuild_counts(self) -> None:
        """Make labels and counts anew from the ledger."""
        await self._database.write(LongJob(rebuild_counts))
