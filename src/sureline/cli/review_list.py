"""`sureline review list`: what waits, in the order in which it is to be worked on (R4)."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from sureline.application.in_csv import queue_csv
from sureline.application.ports.reviews import Wanted
from sureline.application.review.in_json import review_json
from sureline.bootstrap import Services
from sureline.cli.options import CsvOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_csv, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.values.review import Review
from sureline.errors import StoreReadOnly

SliceOption = Annotated[
    list[str] | None, typer.Option("--slice", help="Only this slice; repeat for several.")
]


def list_(
    slice_key: SliceOption = None,
    over: Annotated[
        bool, typer.Option("--over", help="What is decided, expired or superseded instead.")
    ] = False,
    offered_to: Annotated[
        str | None, typer.Option("--for", help="Only what this person's groups work on.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 50,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """List what waits, in the order in which it is to be worked on."""
    wanted = Wanted(slices=tuple(slice_key or ()), is_open=not over)

    async def work(services: Services) -> list[Review]:
        with suppress(StoreReadOnly):  # then things are shown as they were left
            await services.desk.settle()
            await services.attention.sweep()
        desk = services.desk
        narrowed = wanted if offered_to is None else await desk.offered(offered_to, wanted)
        return list(await desk.page(narrowed, limit=limit))

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"reviews": [review_json(one) for one in found]})
    elif as_csv:
        print_csv(queue_csv(found))
    elif found:
        columns = ("id", "slice", "kind", "state", "deadline", "who")
        print_table("Reviews", columns, [_row(one) for one in found])
    else:
        say("nothing is over yet" if over else "nothing waits for a person")


def _row(item: Review) -> tuple[str, ...]:
    who = item.claimed_by or ("" if item.verdict is None else item.verdict.by)
    deadline = f"{item.deadline:%Y-%m-%d %H:%M}"
    return item.id, item.slice_key, item.kind, item.state, deadline, who
