"""`sureline import`: start from a log of past outputs (L10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.import_log import Imported, LogImport, Mapped
from sureline.application.ports.tables import Table
from sureline.bootstrap import Services, open_table
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import error_json, note, print_json, progress, say
from sureline.cli.session import on_store
from sureline.errors import InvalidInput

SHOWN = 20
"""How many rejected rows are listed for a person; JSON lists all."""


@dataclass(slots=True)
class _Count:
    new: int = 0
    known: int = 0
    labels: int = 0
    rejected: list[Imported] = field(default_factory=list)

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
            help="Which column holds output, task, source, label, id, slice or self_report; "
            "output.NAME=COLUMN gathers an output from several columns. Repeat.",
        ),
    ],
    slice_key: Annotated[
        str | None, typer.Option("--slice", help="The slice of every row, if no column has it.")
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task of every row, if no column has it.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who vouches for the labels.")] = "import",
    policy: PolicyOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Measure past outputs under the current policy and record their labels; nothing acts.

    Repeating an import, or importing a log that has grown, takes in only what is new. Exit code
    2 if a row was rejected; the others are in.
    """
    mapped = Mapped(columns=_columns(maps), slice_key=slice_key, task=task)
    table = open_table(file)

    async def work(services: Services) -> _Count:
        await services.prepare(policy)
        return await _run(services, mapped, table, by)

    count = on_store(work, store=store, workspace=workspace, create=True)
    _report(count, table.unit, as_json)
    raise typer.Exit(2 if count.rejected else 0)


async def _run(services: Services, mapped: Mapped, table: Table, by: str) -> _Count:
    log = LogImport(
        decider=services.decider,
        labeller=services.labeller,
        workspace=services.workspace,
        mapped=mapped,
        by=by,
    )
    count = _Count()
    with progress(f"importing {table.name}", None) as advance:
        async for row in log.run(table):
            count.add(row)
            advance(1)
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
            }
        )
        return
    for row in count.rejected[:SHOWN]:
        note(f"{unit} {row.place}: {row.error}")
    if len(count.rejected) > SHOWN:
        note(f"... and {len(count.rejected) - SHOWN} more; --json lists all")
    say(
        f"{count.new} new, {count.known} there already, {count.labels} labels, "
        f"{len(count.rejected)} rejected"
    )


def _rejected_json(row: Imported, unit: str) -> dict[str, Any]:
    return {unit: row.place, "error": None if row.error is None else error_json(row.error)}
