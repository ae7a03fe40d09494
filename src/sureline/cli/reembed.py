"""`sureline reembed`: make the vectors of past decisions anew, after a change of embedder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sureline.application.reembed import Reembedded, Reembedder, SlicePlan
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, progress, say
from sureline.cli.session import on_store

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice:
    plan: SlicePlan
    done: Reembedded | None


def reembed(
    slice_key: Annotated[
        str | None, typer.Option("--slice", help="Only this slice; by default all of the policy's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to do, and do nothing.")
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make vectors of past decisions anew with the embedder that the active policy names.

    Only decisions with a verdict are compared with, so only theirs are made; the latest first. May
    be stopped at any moment: what was made is kept, and the next run goes on from there. A text
    that cannot be embedded is left out and counted.
    """

    async def work(services: Services) -> list[_Slice]:
        reembedder = services.reembedder
        plans = await reembedder.plan(slice_key)
        if dry_run:
            return [_Slice(plan=plan, done=None) for plan in plans]
        return [_Slice(plan=plan, done=await _carried_out(reembedder, plan)) for plan in plans]

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"dry_run": dry_run, "slices": [_json(one) for one in found]})
        return
    _show(found)


async def _carried_out(reembedder: Reembedder, plan: SlicePlan) -> Reembedded:
    with progress(f"embedding {plan.slice_key}", len(plan.missing)) as advance:
        return await reembedder.carry_out(plan, advance)


def _show(found: list[_Slice]) -> None:
    if not found:
        say("no slice of the active policy gives the signal history a weight")
        return
    columns = ("slice", "embedder", "own", "made before", "erased", "to make", "made", "failed")
    print_table(
        "Vectors of decisions with a verdict",
        columns,
        [
            (
                one.plan.slice_key,
                one.plan.embedder,
                one.plan.own,
                one.plan.remade,
                one.plan.erased,
                len(one.plan.missing),
                None if one.done is None else one.done.made,
                None if one.done is None else len(one.done.failed),
            )
            for one in found
        ],
    )
    for one in found:
        if one.done is not None and one.done.failed:
            named = ", ".join(one.done.failed[:SHOWN])
            more = len(one.done.failed) - SHOWN
            note(
                f"{one.plan.slice_key}: could not be embedded: {named}"
                + (f" and {more} more; --json lists all" if more > 0 else "")
            )


def _json(one: _Slice) -> dict[str, Any]:
    plan, done = one.plan, one.done
    return {
        "slice": plan.slice_key,
        "embedder": plan.embedder,
        "model_id": plan.model_id,
        "own": plan.own,
        "remade": plan.remade,
        "erased": plan.erased,
        "to_make": len(plan.missing),
        "made": None if done is None else done.made,
        "failed": None if done is None else done.failed,
    }
