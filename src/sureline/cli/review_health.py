"""`sureline review health`: does the queue keep up, and if not, what would help (R9)."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import typer

from sureline.application.review.queue_health import (
    SHOWN_DAYS,
    QueueReport,
    QueueRow,
    queue_json,
)
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import Shaded, print_json, print_table, say
from sureline.cli.session import on_store

COLUMNS = ("open", "oldest", "came a day", "decided a day", "in a week", "half", "95 %", "expired")


def health(
    days: Annotated[
        int, typer.Option("--days", min=1, help="Days of figures, today included.")
    ] = SHOWN_DAYS,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show what comes into the queue, what is decided, how long it waits, and what is too much.

    Exit code 1 if a slice is overloaded. It only looks.
    """

    async def work(services: Services) -> QueueReport:
        return await services.queue_health.read(days)

    report = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(queue_json(report))
    else:
        show_queue(report)
    raise typer.Exit(1 if report.warnings else 0)


def show_queue(report: QueueReport) -> None:
    """Write the slices, the groups, and what is too much."""
    rows = [(one.name, one.group or "", *_figures(one, report)) for one in report.slices]
    print_table("The queue, by slice", ("slice", "group", *COLUMNS), rows)
    if report.groups:
        groups = [(one.name, *_figures(one, report)) for one in report.groups]
        print_table("The queue, by group", ("group", *COLUMNS), groups)
    for warning in report.warnings:
        say(f"OVERLOAD: {warning}")


def _figures(row: QueueRow, report: QueueReport) -> tuple[Any, ...]:
    load = row.load
    return (
        load.open,
        "" if row.oldest is None else span(report.at - row.oldest),
        f"{load.arrivals_a_day:.1f}",
        Shaded(f"{load.verdicts_a_day:.1f}", "bold red" if row.overload else ""),
        row.in_a_week,
        span(row.p50),
        span(row.p95),
        load.expired,
    )


def span(length: timedelta | None) -> str:
    """Say how long something took, in its largest unit; empty where that is not known."""
    if length is None:
        return ""
    seconds = length.total_seconds()
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
