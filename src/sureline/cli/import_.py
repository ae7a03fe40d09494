"""`sureline import`: start from a log of past outputs (L10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.import_log import Imported, LogImport, Mapped
from sureline.application.mapped_signals import PREFIX, Labelled, LabelSource, MappedSignals
from sureline.application.ports.tables import Table
from sureline.bootstrap import Services, open_table
from sureline.cli.import_signals import SignalLog, import_signals
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import error_json, note, print_json, progress, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.errors import InvalidInput, ModelFailed

CHOSEN = (
    "these labels are recorded and certify nothing: somebody chose which rows to label; if every "
    "row was labelled, say so with --labelled all"
)

SHOWN = 20
"""How many rejected rows are listed for a person; JSON lists all."""


@dataclass(slots=True)
class _Count:
    new: int = 0
    known: int = 0
    labels: int = 0
    rejected: list[Imported] = field(default_factory=list)
    stopped: ModelFailed | None = None

    def add(self, row: Imported) -> None:
        if row.error is not None:
            self.rejected.append(row)
            return
        self.new += row.created
        self.known += not row.created
        self.labels += row.label is not None


def import_(
    file: Annotated[Path, typer.Argument(help="A CSV, JSON Lines or Parquet file.")],
    maps: Annotated[
        list[str],
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Which column holds output, task, source, label, id, slice, subject or "
            "self_report; output.NAME=COLUMN gathers an output from several columns. For a log "
            "with signals of its own: signal.NAME, label, id, at, slice. Repeat.",
        ),
    ],
    slice_key: Annotated[
        str | None, typer.Option("--slice", help="The slice of every row, if no column has it.")
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task of every row, if no column has it.")
    ] = None,
    label_source: Annotated[
        str | None,
        typer.Option(
            "--label-source",
            help="human (a person judged each output) or outcome (what happened later); needed "
            "for a log with signals. A model's labels are refused.",
        ),
    ] = None,
    labelled: Annotated[
        Labelled,
        typer.Option(
            "--labelled",
            help="all (every row was labelled, or the log is a random sample) or "
            "reviewed (somebody chose; such labels certify nothing).",
        ),
    ] = Labelled.REVIEWED,
    rejects: Annotated[
        Path | None,
        typer.Option("--rejects", help="With signals: where rejected rows are listed."),
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who vouches for the labels.")] = "import",
    policy: PolicyOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Record past outputs with their labels under the current policy; nothing acts.

    Rows bring either outputs, which are measured, or signals of their own. Measuring asks the
    models that the policy names, and costs what they cost. A row whose second opinion a provider's
    fault kept from being given is rejected; bring the same file again later. Repeating an import,
    or importing a log that has grown, takes in only what is new. Exit code 2 if a row was
    rejected; the others are in.
    """
    by = acting(by, field="--by")
    columns, source = _columns(maps), _label_source(label_source)
    if any(name.startswith(PREFIX) for name in columns):
        signals = MappedSignals(
            columns=columns,
            slice_key=slice_key,
            label_source=source,
            labelled=labelled,
        )
        if task is not None:
            raise InvalidInput("a log with its own signals needs no task", field="--task")
        where = rejects or Path(f"{file}.rejects.jsonl")
        given = SignalLog(file=file, mapped=signals, by=by, rejects=where)
        rejected = import_signals(given, policy, store, workspace, as_json=as_json)
        raise typer.Exit(2 if rejected else 0)
    mapped = Mapped(columns=columns, slice_key=slice_key, task=task)
    table = open_table(file)

    async def work(services: Services) -> _Count:
        await services.prepare(policy)
        return await _run(services, mapped, table, by, labelled)

    count = on_store(work, store=store, workspace=workspace, create=True, by=by)
    if labelled is Labelled.REVIEWED and "label" in columns:
        note(CHOSEN)
    _report(count, table.unit, as_json)
    raise typer.Exit(2 if count.rejected or count.stopped else 0)


def _label_source(text: str | None) -> LabelSource | None:
    """Read who labelled. Raises InvalidInput for a model (C27) and for anything unknown."""
    if text is None or text in set(LabelSource):
        return None if text is None else LabelSource(text)
    raise InvalidInput(
        f"expected human or outcome, got {text!r}: thresholds rest on what people or later events "
        "say; a model's opinion of a model is no label",
        field="--label-source",
    )


async def _run(
    services: Services, mapped: Mapped, table: Table, by: str, labelled: Labelled
) -> _Count:
    log = LogImport(
        decider=services.decider,
        labeller=services.labeller,
        workspace=services.workspace,
        mapped=mapped,
        by=by,
        labelled=labelled,
    )
    count = _Count()
    with progress(f"importing {table.name}", table.estimated_rows()) as advance:
        try:
            async for row in log.run(table):
                count.add(row)
                advance(1)
        except ModelFailed as error:
            count.stopped = error
    count.rejected.sort(key=lambda row: row.place)
    return count


def _columns(maps: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in maps:
        name, separator, column = text.partition("=")
        if not (name and separator and column):
            raise InvalidInput(f"expected FIELD=COLUMN, got {text!r}", field="--map")
        if name in columns:
            raise InvalidInput(f"{name} is mapped twice", field="--map")
        columns[name] = column
    return columns


def _report(count: _Count, unit: str, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "new": count.new,
                "known": count.known,
                "labels": count.labels,
                "rejected": [_rejected_json(row, unit) for row in count.rejected],
                "stopped": None if count.stopped is None else error_json(count.stopped),
            }
        )
        return
    for row in count.rejected[:SHOWN]:
        note(f"{unit} {row.place}: {row.error}")
    if len(count.rejected) > SHOWN:
        note(f"... and {len(count.rejected) - SHOWN} more; --json lists all")
    if count.stopped is not None:
        note(str(count.stopped))
    say(
        f"{count.new} new, {count.known} there already, {count.labels} labels, "
        f"{len(count.rejected)} rejected"
    )


def _rejected_json(row: Imported, unit: str) -> dict[str, Any]:
    return {unit: row.place, "error": None if row.error is None else error_json(row.error)}
