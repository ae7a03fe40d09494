"""`sureline cases`: how similar past cases are searched, and the indexes for many of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Annotated, Any

import typer

from sureline.bootstrap import Services
from sureline.bootstrap.past_cases import WHY, CaseStanding, CaseStatus, Indexed, past_cases_of
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, progress, say
from sureline.cli.session import on_store
from sureline.core.values.counted import counted

cases_app = typer.Typer(
    help="See how similar past cases are searched, and build indexes.",
    no_args_is_help=True,
    add_completion=False,
)


@cases_app.command("status")
def status(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Say how each slice's cases are searched: in memory, exactly, or by an index."""

    async def work(services: Services) -> CaseStatus:
        policy = await services.policies.latest() if await services.policies.active_hash() else None
        return await past_cases_of(services).status(policy)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(asdict(found))
        return
    say(f"each process keeps the latest {found.in_memory:,} cases of a slice in memory")
    if found.beyond is not None:
        say(f"older ones of a larger window are not searched: {WHY[found.beyond]}")
    print_table(
        "Past cases by slice and embedding model",
        ("slice", "model", "cases", "window", "in the database", "index", "searched", "why"),
        [_row(one) for one in found.slices],
    )


@cases_app.command("index")
def index(
    slice_key: Annotated[
        str | None, typer.Option("--slice", help="Only this slice; by default every large one.")
    ] = None,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Take in all cases once more, and build all indexes again."),
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Take in cases that are missing; build the indexes of slices with 20,000 cases, measure them.

    PostgreSQL only. The gate goes on deciding meanwhile. May be stopped at any moment: cases that
    were taken in stay, a half-built index is dropped.
    """

    async def work(services: Services) -> Sequence[Indexed]:
        return await past_cases_of(services).index(slice_key, _bar, anew=anew)

    try:
        found = on_store(work, store=store, workspace=workspace)
    except KeyboardInterrupt:
        note("stopped: what was half built is dropped; cases that were taken in stay")
        raise
    if as_json:
        print_json({"indexes": [asdict(one) for one in found]})
        return
    if not found:
        say("all cases are taken in; no slice has so many that an index would help")
    for one in found:
        say(_sentence(one))


def _bar(what: str, steps: int) -> AbstractContextManager[Any]:
    return progress(what, steps or None)


def _row(one: CaseStanding) -> tuple[Any, ...]:
    found = one.slice
    stored, state = None, "none"
    if found.index is not None:
        stored, state = found.index.stored, found.index.state
    model = f"{found.model_id} ({found.dimension})"
    return (found.slice_key, model, found.recorded, one.window, stored, state, one.how, one.why)


def _sentence(one: Indexed) -> str:
    done = {
        "built": "index built",
        "rebuilt": "half an index from an earlier run was dropped; index built",
        "measured": "index was there",
    }[one.done]
    use = "" if one.is_used else "; that is too little, so cases are compared one by one"
    return (
        f"{one.slice_key}: {done}; it finds {one.recall:.1%} of the ten nearest (at least "
        f"{one.recall_low:.1%}, by {counted(one.queries, 'question')}){use}"
    )
