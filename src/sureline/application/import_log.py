"""Take in a log of past outputs with their labels, so that a team starts from its history (L10)."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sureline.application.answer import Answer
from sureline.application.cells import read_label
from sureline.application.decide import Decider
from sureline.application.import_outage import TRIAL, Outage
from sureline.application.intake import read_proposal
from sureline.application.label import GivenAnswer, Labeller
from sureline.application.log_only import LogOnlyCurrents
from sureline.application.mapped_signals import Labelled
from sureline.application.ports.tables import Table
from sureline.core.canonical import canonical_json
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import SignalState
from sureline.errors import InvalidInput, StoreError, SurelineError

REQUIRED = ("output", "task")
BATCH = 64
"""Rows that are decided at once, so that their writes share one commit."""
OPTIONAL = ("source", "label", "id", "slice", "self_report", "subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """Which column holds which field of a past proposal.

    `columns` maps `output`, `task`, `source`, `label`, `id`, `slice` and `self_report` to column
    names; `output.NAME` gathers several columns into one output. `slice_key` and `task` hold for
    every row where no column does. Raises InvalidInput for a field that is unknown or not given.
    """

    columns: Mapping[str, str]
    slice_key: str | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        known = {*REQUIRED, *OPTIONAL}
        for name in self.columns:
            if name not in known and not name.startswith("output."):
                fields = ", ".join([*REQUIRED, *OPTIONAL, "output.NAME"])
                raise InvalidInput(f"no field {name!r} to map to; the fields are {fields}")
        if "output" in self.columns and self._parts:
            raise InvalidInput("map either output or output.NAME, not both")
        if "output" not in self.columns and not self._parts:
            raise InvalidInput("no column is mapped to output")
        for name, given in (("task", self.task), ("slice", self.slice_key)):
            if (given is None) == (name not in self.columns):
                raise InvalidInput(f"give the {name} either by a column or for all rows")

    @property
    def _parts(self) -> dict[str, str]:
        prefix = "output."
        columns = self.columns.items()
        return {name.removeprefix(prefix): at for name, at in columns if name.startswith(prefix)}

    def proposal(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row as the fields of a proposal, its id not yet among them."""
        parts = self._parts
        given: dict[str, Any] = {
            "slice_key": self._text(row, "slice", self.slice_key),
            "task": self._text(row, "task", self.task),
            "output": {name: _plain(row[column]) for name, column in parts.items()}
            if parts
            else _plain(row[self.columns["output"]]),
        }
        for name in {"source", "subject"} & self.columns.keys():
            given[name] = self._text(row, name, None)
        if "self_report" in self.columns:
            given["self_report"] = _number(row[self.columns["self_report"]])
        return given

    def label(self, row: Mapping[str, Any]) -> Action | None:
        """Return what a person said, None for an empty cell. Raises InvalidInput."""
        column = self.columns.get("label")
        return None if column is None else read_label(row[column], column)

    def own_id(self, row: Mapping[str, Any]) -> str | None:
        """Return the row's own id where a column holds one."""
        column = self.columns.get("id")
        if column is None or row[column] is None:
            return None
        return str(row[column])

    def _text(self, row: Mapping[str, Any], name: str, constant: str | None) -> str | None:
        if constant is not None:
            return constant
        value = row[self.columns[name]]
        return value if value is None or isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of one row: `error` says why it was rejected, None if it was taken in.

    `created` is False for a row that was there already; `label` is what was recorded of it.
    """

    place: int
    created: bool = False
    label: Action | None = None
    error: SurelineError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row on its way: without a proposal it was rejected. `given` names signals that it got."""

    imported: Imported
    proposal: Proposal | None = None
    given: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class LogImport:
    """Takes in one log: each row is decided in log-only fashion, then labelled.

    Ids come from a row's content, and from how many equal rows came before it in the file. So
    repeating an import, or importing a log that has grown, takes in only what is new, and no
    label counts twice. `labelled` says what the labels are a sample of: those of rows that
    somebody chose are recorded and shown, and certify nothing.

    A row whose second opinion a provider's fault or the set-up kept from being given is rejected,
    so that the same log can be brought again later.
    """

    decider: Decider
    labeller: Labeller
    workspace: str
    mapped: Mapped
    by: str
    labelled: Labelled = Labelled.REVIEWED
    _seen: Counter[bytes] = field(default_factory=Counter)

    async def run(self, table: Table) -> AsyncIterator[Imported]:
        """Yield what became of each row, in order. Raises InvalidInput, StoreError.

        Rows that could not be read at all come behind the others of their chunk. Raises
        ModelFailed, once their rows are yielded, where a model gives no opinion any more.
        """
        decider = replace(
            self.decider,
            currents=LogOnlyCurrents(self.decider.currents),
            representative=self.labelled is Labelled.ALL,
            can_wait=True,
            queues=False,
        )
        outage = Outage()
        names = tuple(dict.fromkeys(self.mapped.columns.values()))
        unread: list[Imported] = []

        def on_fault(place: int, error: InvalidInput) -> None:
            unread.append(Imported(place=place, error=error))

        for chunk in table.chunks(names, on_fault=on_fault):
            for batch in _batches(len(chunk.places), first=TRIAL):
                rows = [
                    self._read(
                        chunk.places[at],
                        {name: values[at] for name, values in chunk.columns.items()},
                    )
                    for at in batch
                ]
                # Decide the whole batch before labelling it: what a row sees of the past must
                # not depend on timing.
                decided = await asyncio.gather(*(self._decide(decider, row) for row in rows))
                for one in await asyncio.gather(*map(self._label, decided)):
                    yield one
                for row in decided:
                    outage.watch(row.imported.error, row.given)
                outage.stop_if_lasting()
            while unread:
                yield unread.pop(0)
        for one in unread:
            yield one

    def _read(self, place: int, row: Mapping[str, Any]) -> _Row:
        try:
            label = self._label_of(row)
            raw = self.mapped.proposal(row)
            row_id = self.mapped.own_id(row) or self._id_of(raw)
            proposal = read_proposal({**raw, "id": row_id}, workspace=self.workspace)
        except InvalidInput as error:
            return _Row(imported=Imported(place=place, error=error))
        return _Row(imported=Imported(place=place, label=label), proposal=proposal)

    def _label_of(self, row: Mapping[str, Any]) -> Action | None:
        label = self.mapped.label(row)
        if label is None and self.labelled is Labelled.ALL:
            raise InvalidInput("no label, but every row was said to have one", field="label")
        return label

    async def _decide(self, decider: Decider, row: _Row) -> _Row:
        if row.proposal is None:
            return row
        try:
            answer = await decider.decide(row.proposal)
        except StoreError:
            raise
        except SurelineError as error:
            return _Row(imported=replace(row.imported, error=error))
        imported = replace(row.imported, created=answer.created)
        return replace(row, imported=imported, given=_given(answer))

    async def _label(self, row: _Row) -> Imported:
        done = row.imported
        if row.proposal is None or row.proposal.id is None or done.label is None:
            return done
        try:
            await self.labeller.record(self.workspace, self._answer(row.proposal.id, done.label))
        except StoreError:
            raise
        except SurelineError as error:
            return replace(done, error=error)
        return done

    def _id_of(self, raw: Mapping[str, Any]) -> str:
        digest = hashlib.sha256(canonical_json(raw)).digest()
        self._seen[digest] += 1
        numbered = digest + str(self._seen[digest]).encode()
        return f"import_{hashlib.sha256(numbered).hexdigest()[:32]}"

    def _answer(self, row_id: str, label: Action) -> GivenAnswer:
        return GivenAnswer(
            decision_id=row_id,
            id=f"{row_id}_{label}",
            action=label,
            by=self.by,
            source=OutcomeSource.IMPORT,
            anchored=True,
        )


def _batches(count: int, *, first: int) -> Iterator[range]:
    """Yield the places of `count` rows in batches, the first one of another length."""
    start, size = 0, first
    while start < count:
        yield range(start, min(start + size, count))
        start, size = start + size, BATCH


def _given(answer: Answer) -> frozenset[str]:
    """Name the signals that a row got now; none of a row that was there already."""
    if not answer.created:
        return frozenset()
    signals = answer.decision.signals
    return frozenset(one.name for one in signals if one.state is not SignalState.NOT_SAMPLED)


def _plain(value: Any) -> Any:
    """Return a cell as JSON can say it."""
    if value is None or isinstance(value, (bool, int, float, str, list, dict)):
        return value
    return str(value)


def _number(value: Any) -> Any:
    """Return a number written as text as a number; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
