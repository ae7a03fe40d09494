"""`sureline golden`: take what editors corrected as cases for trying a generator (R6)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from sureline.application.in_csv import golden_csv
from sureline.application.ports.planted import GoldenCase
from sureline.application.review.golden import FieldEdits, case_json, fields_json
from sureline.bootstrap import Services
from sureline.cli.options import CsvOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import json_text, print_csv, print_json, print_table, say
from sureline.cli.session import on_store

golden_app = typer.Typer(
    help="Take what editors corrected as cases for trying a generator.",
    no_args_is_help=True,
    add_completion=False,
)

SliceOption = Annotated[str | None, typer.Option("--slice", help="Only this slice.")]


@golden_app.command("export")
def export(
    slice_key: SliceOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Write the golden set as JSON Lines: task, sources, draft, and what it should have been.

    With --json it is one JSON object instead, with --csv a table.
    """

    async def work(services: Services) -> Sequence[GoldenCase]:
        return await services.golden.cases(slice_key)

    found = on_store(work, store=store, workspace=workspace)
    if as_csv:
        print_csv(golden_csv(found))
        return
    cases = [case_json(one) for one in found]
    if as_json:
        print_json({"cases": cases})
        return
    for one in cases:
        sys.stdout.write(json_text(one) + "\n")


@golden_app.command("fields")
def fields(
    slice_key: SliceOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show which fields editors change, the most often changed first."""

    async def work(services: Services) -> Sequence[FieldEdits]:
        return await services.golden.fields(slice_key)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"fields": [fields_json(one) for one in found]})
    elif found:
        rows = [(one.slice_key, one.field, f"{one.changed} of {one.edits}") for one in found]
        print_table("Edited fields", ("slice", "field", "edits"), rows)
    else:
        say("nobody has edited anything yet")
