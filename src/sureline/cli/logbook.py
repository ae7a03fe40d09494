"""`sureline logbook`: what changed, when, by whom, and what it did to automation (L6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Annotated, Any

import typer

from sureline.application.in_csv import logbook_csv
from sureline.application.logbook import Entry, Rate, entry_json
from sureline.bootstrap import Services
from sureline.cli.options import CsvOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_csv, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.values.moment import moment_of


def logbook(
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only from this day or moment on (ISO 8601; UTC if bare)."),
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """List activations, switches, guard trips and erasures, with automation before and after."""
    start = None if since is None else moment_of(since, field="--since")

    async def work(services: Services) -> Sequence[Entry]:
        return await services.logbook.entries(start)

    entries = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"entries": [entry_json(one) for one in entries]})
    elif as_csv:
        print_csv(logbook_csv(entries))
    elif entries:
        print_table(
            "Logbook: automation in the 7 days before and after each change",
            ("when (UTC)", "what", "which", "by", "before", "after", "why"),
            [_row(one) for one in entries],
        )
    else:
        say("nothing has changed")


def _row(one: Entry) -> tuple[Any, ...]:
    when = f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M}"
    which = one.subject if ":" in one.subject else one.subject[:16]
    return when, one.change, which, one.by, _share(one.before), _share(one.after), one.note


def _share(rate: Rate) -> str:
    return "-" if rate.share is None else f"{rate.share:.0%} of {rate.decisions}"
