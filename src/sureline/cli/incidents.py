"""`sureline incidents`: what acted, or was released, and turned out wrong (R14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sureline.application.incident_json import incident_json
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.incident import Incident
from sureline.errors import InvalidInput

incidents_app = typer.Typer(
    help="See and close what was released and turned out wrong.",
    no_args_is_help=True,
    add_completion=False,
)


@incidents_app.command("list")
def list_(
    every: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    slice_key: Annotated[str | None, typer.Option("--slice", help="Only of this slice.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many.")] = 50,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List incidents, the newest first: an answer that contradicts what acted opens one."""

    async def work(services: Services) -> Sequence[Incident]:
        slices = () if slice_key is None else (slice_key,)
        incidents = services.store.incidents
        return await incidents.list(workspace, only_open=not every, slices=slices, limit=limit)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"incidents": [incident_json(one) for one in found]})
    elif found:
        columns = ("id", "opened (UTC)", "decision", "slice", "said by", "certificate", "state")
        print_table("Incidents", columns, [_row(one) for one in found])
    else:
        say("there are no incidents" if every else "no incident is open")


@incidents_app.command("close")
def close(
    incident_id: Annotated[str, typer.Argument(metavar="ID", help="The incident's id.")],
    note: Annotated[str, typer.Option("--note", help="What came of it; it is recorded.")],
    by: ByOption,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Close an incident with a note, in the ledger."""
    if not note.strip():
        raise InvalidInput("say what came of it", field="--note")
    named = acting(by, field="--by")

    async def work(services: Services) -> Incident:
        return await services.store.incidents.close(
            workspace, incident_id, by=named, note=note.strip(), at=services.clock.now()
        )

    closed = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(incident_json(closed))
    else:
        say(f"closed {closed.id}")


def _row(one: Incident) -> tuple[Any, ...]:
    state = "open" if one.is_open else f"closed by {one.closed_by}: {one.note}"
    if not one.stands:
        state += " (called right since)"
    return (
        one.id,
        f"{one.opened_at:%Y-%m-%d %H:%M}",
        one.decision_id,
        one.slice_key,
        one.source,
        one.certificate,
        state,
    )
