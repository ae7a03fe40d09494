"""Take in a log that has measured its signals itself: composed and routed, then only recorded."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sureline.application.answer import assemble, record_of, replay
from sureline.application.case import Case
from sureline.application.current import Currents
from sureline.application.door import refuse_missions
from sureline.application.identify import Identity
from sureline.application.import_log import Imported
from sureline.application.mapped_signals import (
    Labelled,
    LabelSource,
    MappedSignals,
    PastRow,
    missing_signal,
)
from sureline.application.measure import Measurements
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import (
    DecisionRecord,
    LabelledRecord,
    Ledger,
    RecordedLabel,
)
from sureline.application.ports.tables import Table
from sureline.core.canonical import canonical_json
from sureline.core.gate.composition import JUDGE, VERIFICATION, assess
from sureline.core.gate.judging import should_judge
from sureline.core.gate.routing import route
from sureline.core.gate.strata import stratum_of
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.errors import Conflict, InvalidInput, StoreError, SurelineError

BATCH = 5_000
"""Rows that are written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A row that could be read, with its id and its outcome."""

    place: int
    row_id: str
    row: PastRow
    identity: Identity
    outcome: Outcome | None


@dataclass(slots=True, kw_only=True)
class SignalImport:
    """Takes in one log whose rows bring their own signals.

    A row without an own id is known by its place and by all that stands before it in the log: so
    an import that was interrupted, or a log that has grown at its end, goes on where it stopped.
    `by` vouches for the labels. `currents` are log-only ones (see application/import_log.py).
    """

    ledger: Ledger
    currents: Currents
    clock: Clock
    secret: bytes
    workspace: str
    mapped: MappedSignals
    by: str
    _before: bytes = field(default=b"")
    _number: int = field(default=0)

    async def run(self, table: Table) -> AsyncIterator[Sequence[Imported]]:
        """Yield what became of the rows, some thousands at a time. Raises InvalidInput, StoreError.

        What was yielded is on disk.
        """
        now = self.clock.now()
        if self.mapped.slice_key is not None:
            self._check((await self.currents.latest(self.mapped.slice_key)).policy)
        faults: list[Imported] = []

        def on_fault(place: int, error: InvalidInput) -> None:
            faults.append(Imported(place=place, error=error))

        for chunk in table.chunks(self.mapped.names, on_fault=on_fault):
            for start in range(0, len(chunk.places), BATCH):
                end = min(start + BATCH, len(chunk.places))
                columns = {name: cells[start:end] for name, cells in chunk.columns.items()}
                yield await self._take(list(self._rows(chunk.places[start:end], columns, now)), now)
            yield list(faults)
            faults.clear()
        yield faults

    def _rows(
        self, places: Sequence[int], columns: Mapping[str, Sequence[Any]], now: datetime
    ) -> Iterator[_Read | Imported]:
        names = tuple(columns)
        for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
            cells = dict(zip(names, values, strict=True))
            try:
                row_id = self._next_id(cells)
                yield self._read(place, row_id, self.mapped.read(cells, now), now)
            except InvalidInput as error:
                yield Imported(place=place, error=error)

    def _next_id(self, cells: Mapping[str, Any]) -> str:
        content = canonical_json(self.mapped.content(cells))
        self._before = hashlib.sha256(self._before + content).digest()
        self._number += 1
        # The number first: ids that rise keep the store's index small to write.
        return f"import_{self._number:010d}_{self._before[:8].hex()}"

    def _read(self, place: int, row_id: str, row: PastRow, now: datetime) -> _Read:
        row_id = row.row_id or row_id
        given = {
            "slice_key": row.slice_key,
            "signals": {signal.name: signal.value for signal in row.signals} | _said(row),
            "at": None if row.at is None else row.at.isoformat(),
        }
        request = canonical_json(given)
        identity = Identity(
            request=request,
            content_digest=hmac.digest(self.secret, b"content\x00" + request, "sha256"),
            task_digest=hmac.digest(self.secret, b"import\x00" + row_id.encode(), "sha256"),
            sample_key=row_id,
        )
        outcome = None if row.label is None else self._outcome(row_id, row.label, now)
        return _Read(place=place, row_id=row_id, row=row, identity=identity, outcome=outcome)

    def _outcome(self, row_id: str, label: Action, now: datetime) -> Outcome:
        source = self.mapped.label_source
        return Outcome(
            id=f"{row_id}_{label}",
            workspace=self.workspace,
            decision_id=row_id,
            action=label,
            correct=label is Action.APPROVE,
            source=OutcomeSource.IMPORT,
            by=f"{self.by} ({source})",
            anchored=source is LabelSource.HUMAN,
            recorded_at=now,
        )

    async def _take(self, rows: Sequence[_Read | Imported], now: datetime) -> list[Imported]:
        """Write what is new of a batch and say what became of each row, in order."""
        reads = [row for row in rows if isinstance(row, _Read)]
        stored = await self.ledger.recorded(self.workspace, [read.row_id for read in reads])
        known = {one.decision_id: one for one in stored}
        cases = await self._cases({read.row.slice_key for read in reads}, now)
        done: dict[int, Imported] = {}
        fresh: list[tuple[_Read, LabelledRecord]] = []
        for read in reads:
            if _is_done(read, known.get(read.row_id)):
                done[read.place] = _taken(read, created=False)
                continue
            case = cases[read.row.slice_key]
            if isinstance(case, SurelineError):
                done[read.place] = Imported(place=read.place, error=case)
                continue
            record = self._record(read, case, now)
            fresh.append((read, LabelledRecord(record=record, outcome=read.outcome)))
        written = await self.ledger.import_records([row for _, row in fresh]) if fresh else []
        for (read, row), new in zip(fresh, written, strict=True):
            done[read.place] = _taken(read, created=True) if new else await self._settle(read, row)
        return [done[row.place] if isinstance(row, _Read) else row for row in rows]

    async def _cases(self, slices: set[str], now: datetime) -> dict[str, Case | SurelineError]:
        """Return each slice's rows in outline, or why they cannot be taken in.

        Today's threshold holds for them: a row says what the gate of now would have done.
        """
        found: dict[str, Case | SurelineError] = {}
        for key in slices:
            proposal = Proposal(slice_key=key, task="", output=None, workspace=self.workspace)
            try:
                current = await self.currents.latest(key)
                self._check(current.policy)
            except StoreError:
                raise
            except SurelineError as error:
                found[key] = error
            else:
                found[key] = Case.opened(
                    proposal,
                    current,
                    case_id="",
                    sample_key="",
                    attempt=1,
                    now=now,
                    secret=self.secret,
                )
        return found

    def _check(self, policy: SlicePolicy) -> None:
        """Refuse a slice that counts on a signal which the log has not: none would count.

        A kind of mission is refused too: verdicts from elsewhere are none of its judge's.
        """
        refuse_missions(policy)
        needed = [name for name, weight in policy.weights.items() if weight > 0 and name != JUDGE]
        if policy.checks.any:
            needed.append(VERIFICATION)
        missing = missing_signal(needed, self.mapped.signals)
        if missing is not None:
            raise InvalidInput(
                f"slice {policy.key} counts on the signal {missing!r}, which no column holds; "
                f"map signal.{missing} to one, or change the policy's weights first"
            )

    async def _settle(self, read: _Read, row: LabelledRecord) -> Imported:
        """Bring a row that meets something stored the usual way: it is the same, or a conflict."""
        try:
            stored = await self.ledger.append(row.record)
            replay(stored, read.identity)
            if row.outcome is not None:
                await self.ledger.record_outcome(row.outcome)
        except Conflict as error:
            return Imported(place=read.place, error=error)
        return _taken(read, created=stored.created)

    def _record(self, read: _Read, like: Case, now: datetime) -> DecisionRecord:
        """Compose, route and describe a past output as if it had been decided in log-only mode."""
        case = Case(
            id=read.row_id,
            proposal=like.proposal,
            current=like.current,
            at_stake=like.at_stake,
            threshold=like.threshold,
            attempt=1,
            opened_at=read.row.at or now,
            secret=self.secret,
            sample_key=read.row_id,
        )
        policy = case.policy
        signals = read.row.under(policy)
        assessed = assess(signals, policy, maps=case.current.maps)
        judging = should_judge(
            assessed,
            policy,
            stakes=case.at_stake.stakes,
            threshold=case.threshold,
            secret=self.secret,
            sample_key=case.sample_key,
        )
        around = case.circumstances(judging, ())
        routing = route(assessed, policy, around)
        stratum = stratum_of(routing, assessed, policy, around)
        if self.mapped.labelled is not Labelled.ALL:
            stratum = replace(stratum, representative=False)
        measured = Measurements(
            signals=signals,
            output=None,
            unreadable=False,
            findings=(),
            vector=None,
            model_id=None,
        )
        decision = assemble(case, measured, assessed, routing, elapsed_ms=0.0)
        record = record_of(decision, case, read.identity, measured, routing, stratum)
        return replace(record, review=None)  # nobody waits for what was decided elsewhere


def _said(row: PastRow) -> dict[str, Any]:
    """Return what makes a row with a verdict this row."""
    said = row.verdict
    return {} if said is None else {JUDGE: [said.agrees, said.confidence]}


def _is_done(read: _Read, stored: RecordedLabel | None) -> bool:
    """Tell whether the store has this row as it is."""
    if stored is None or stored.content_digest != read.identity.content_digest:
        return False
    return read.outcome is None or read.outcome.correct is stored.correct


def _taken(read: _Read, *, created: bool) -> Imported:
    return Imported(place=read.place, created=created, label=read.row.label)
