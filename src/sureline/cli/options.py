"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where the store is, such as sqlite:///sureline.db (default: SURELINE_STORE, or "
        "that file in the current folder).",
    ),
]
WorkspaceOption = Annotated[str, typer.Option("--workspace", help="The workspace to act in.")]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", help="A policy file; without it, the store's current policy holds."),
]
CsvOption = Annotated[
    bool, typer.Option("--csv", help="Write CSV; no cell is a formula to a spreadsheet.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON.")]
ByOption = Annotated[str, typer.Option("--by", help="Who does this; it is recorded.")]
