"""`sureline ledger retention`: erase what the policy does not keep any longer."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sureline.application.retention import Retained
from sureline.bootstrap import Services
from sureline.bootstrap.erasing import keeper
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, progress, say
from sureline.cli.session import on_store
from sureline.core.values.counted import counted


def retention(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go; nothing is erased.")
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Erase the payloads that are older than the active policy keeps them (`retention`).

    `sureline serve` and `sureline worker` do so once a day. What is still needed stays: items of
    the queue, audits that wait, open incidents, what is still to be told, and the golden set.
    """

    async def work(services: Services) -> Retained:
        if dry_run:
            return await keeper(services).look()
        with progress("erasing", None) as advance:
            return await keeper(services).run(advance)

    done = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(retained_json(done, dry_run=dry_run))
        return
    if not done.slices:
        say("the policy keeps everything: no slice has retention.payload_days")
        return
    print_table("Payloads past their time", _COLUMNS, [_row(one) for one in done.slices])
    if dry_run:
        say(f"{counted(done.erased, 'payload')} would be erased; nothing was changed")
    else:
        say(f"erased {counted(done.erased, 'payload')} by policy {done.policy[:12]}")


_COLUMNS = ("slice", "kept for (days)", "past it", "still needed", "for")


def _row(one: Any) -> tuple[Any, ...]:
    needed = ", ".join(f"{hold} {count}" for hold, count in sorted(one.held.items()))
    return one.slice_key, one.payload_days, one.erased, one.kept, needed or None


def retained_json(done: Retained, *, dry_run: bool) -> dict[str, Any]:
    """Return what a run found as JSON values."""
    return {
        "policy": done.policy,
        "dry_run": dry_run,
        "erased": done.erased,
        "slices": [
            {
                "slice_key": one.slice_key,
                "payload_days": one.payload_days,
                "erased": one.erased,
                "kept": one.kept,
                "held": dict(sorted(one.held.items())),
            }
            for one in done.slices
        ],
    }
