"""`sureline switch`: the kill switch (G29)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.switch import Switch
from sureline.errors import InvalidInput, PolicyError, UnknownSlice

switch_app = typer.Typer(
    help="Send everything to people, or stop doing so.", no_args_is_help=True, add_completion=False
)

SliceOption = Annotated[str | None, typer.Option("--slice", help="Only this slice.")]
BatchOption = Annotated[str | None, typer.Option("--batch", help="Only this batch.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Even if the policy has no such slice (yet).")
]
Done = tuple[Switch, str]
"""A switch that was set, and the store that it was set in."""

ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is recorded and shown.")]


@switch_app.command("on")
def on(
    reason: ReasonOption,
    by: ByOption,
    slice_key: SliceOption = None,
    batch: BatchOption = None,
    force: ForceOption = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Automate nothing in the scope from the next decision on, in every process."""
    scope = _scope(slice_key, batch)
    named = _check_stated(reason, by)

    async def work(services: Services) -> Done:
        await _check_stops(services, slice_key, force=force)
        return await _set(services, scope, on=True, reason=reason, by=named)

    _show(on_store(work, store=store, workspace=workspace, by=named), as_json)


@switch_app.command("off")
def off(
    reason: ReasonOption,
    by: ByOption,
    slice_key: SliceOption = None,
    batch: BatchOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Let the scope automate again; other scopes' switches stay as they are."""
    scope = _scope(slice_key, batch)
    named = _check_stated(reason, by)

    async def work(services: Services) -> Done:
        return await _set(services, scope, on=False, reason=reason, by=named)

    _show(on_store(work, store=store, workspace=workspace, by=named), as_json)


@switch_app.command("status")
def status(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Show every switch, those of the environment included."""

    async def work(services: Services) -> list[Switch]:
        hard = services.plugins.hard_switch.read(workspace)
        return [*hard, *await services.ledger.switches(workspace)]

    switches = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"on": any(one.on for one in switches), "switches": [*map(_json, switches)]})
    elif switches:
        columns = ("scope", "state", "reason", "by", "since")
        print_table("Switches", columns, [tuple(_json(one).values()) for one in switches])
    else:
        say("no switch was ever turned on")


def _scope(slice_key: str | None, batch: str | None) -> str:
    if slice_key is not None and batch is not None:
        raise InvalidInput("give --slice or --batch, not both")
    if slice_key is not None:
        return f"slice:{slice_key}"
    return "global" if batch is None else f"batch:{batch}"


async def _check_stops(services: Services, slice_key: str | None, *, force: bool) -> None:
    """Refuse a switch that stops nothing: in an emergency a slip of the pen must be seen.

    A store without a policy is only remarked: which slices there will be is not known yet.
    """
    try:
        policy = await services.policies.latest()
    except PolicyError:
        note("warning: this store has no policy, so no gate runs on it yet; is it the right one?")
        return
    if slice_key is not None and slice_key not in policy.slices:
        known = ", ".join(sorted(policy.slices))
        missing = f"the policy has no slice {slice_key!r} (it has: {known})"
        if not force:
            raise UnknownSlice(f"{missing}; to turn it on all the same: --force", field="--slice")
        note(f"warning: {missing}")


def _check_stated(reason: str, by: str) -> str:
    """Return who turns the switch. Raises InvalidInput if that, or why, is not said."""
    if not reason.strip():
        raise InvalidInput("must not be empty", field="reason")
    return acting(by, field="--by")


async def _set(services: Services, scope: str, *, on: bool, reason: str, by: str) -> Done:
    switch = Switch(
        workspace=services.workspace,
        scope=scope,
        on=on,
        reason=reason,
        by=by,
        changed_at=services.clock.now(),
    )
    await services.ledger.set_switch(switch)
    return switch, services.store.url


def _json(switch: Switch) -> dict[str, Any]:
    return {
        "scope": switch.scope,
        "state": "on" if switch.on else "off",
        "reason": switch.reason,
        "by": switch.by,
        "changed_at": _since(switch.changed_at),
    }


def _since(at: datetime) -> str | None:
    """Return when it was set; None where nobody knows, as of a switch of the environment."""
    return at.isoformat(timespec="seconds") if at.timestamp() else None


def _show(done: Done, as_json: bool) -> None:
    switch, store = done
    if as_json:
        print_json({**_json(switch), "store": store})
    else:
        state = "on: people decide" if switch.on else "off"
        say(f"switch {switch.scope} is {state} ({switch.reason}, {switch.by}); store {store}")
