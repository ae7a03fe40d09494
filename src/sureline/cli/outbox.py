"""`sureline outbox`: what was told to whom, what could not be, and telling it again (R10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sureline.application.ports.outbox import Delivery, DeliveryState
from sureline.bootstrap import Services, courier_of
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.errors import InvalidInput, NotFound

outbox_app = typer.Typer(
    help="Show what was told, and tell it again.", no_args_is_help=True, add_completion=False
)

ChannelOption = Annotated[
    str | None, typer.Option("--channel", help="Only this channel of the policy.")
]


@outbox_app.command("list")
def list_(
    state: Annotated[
        DeliveryState | None, typer.Option("--state", help="Only those that stand here.")
    ] = None,
    channel: ChannelOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many.")] = 50,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List deliveries, the newest first; `dead` ones failed for a day."""

    async def work(services: Services) -> tuple[Sequence[Delivery], dict[str, str]]:
        outbox = services.store.outbox
        found = await outbox.list(workspace, state=state, channel=channel, limit=limit)
        return found, await outbox.closed(workspace)

    found, closed = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"deliveries": [_json(one) for one in found], "disabled": sorted(closed)})
        return
    if found:
        columns = ("id", "what", "slice", "channel", "state", "tries", "due (UTC)", "said")
        print_table("Deliveries", columns, [_row(one) for one in found])
    else:
        say("there are no deliveries")
    for name in sorted(closed):
        say(f"the channel {name} is disabled: its receiver answered that it is gone")


@outbox_app.command("show")
def show(
    delivery_id: Annotated[str, typer.Argument(metavar="ID", help="The delivery's id.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show one delivery: what is told, how often it was tried and what went wrong last."""

    async def work(services: Services) -> Delivery | None:
        return await services.store.outbox.get(workspace, delivery_id)

    found = on_store(work, store=store, workspace=workspace)
    if found is None:
        raise NotFound(f"there is no delivery {delivery_id!r}")
    if as_json:
        print_json(_json(found))
        return
    for name, value in _json(found).items():
        say(f"{name}: {'' if value is None else value}")


@outbox_app.command("replay")
def replay(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Deliveries, in any state.")
    ] = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="All dead ones; with --channel, those of a channel.")
    ] = False,
    channel: ChannelOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Begin anew with deliveries, under their old ids; disabled channels are enabled again."""
    if bool(ids) == dead:
        raise InvalidInput("name deliveries, or say --dead for all that are dead")

    async def work(services: Services) -> int:
        return await services.store.outbox.replay(
            workspace, now=services.clock.now(), ids=ids or (), channel=channel
        )

    count = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"replayed": count})
    else:
        say(f"{count} to be delivered anew (`sureline serve` does it, or `outbox deliver`)")


@outbox_app.command("deliver")
def deliver(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Deliver once what is due, where no `sureline serve` does it all the time."""

    async def work(services: Services) -> list[Delivery]:
        await services.desk.settle()
        await courier_of(services).round()
        waiting = await services.store.outbox.list(
            workspace, state=DeliveryState.WAITING, channel=None, limit=10_000
        )
        return list(waiting)

    left = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"waiting": len(left)})
    else:
        say(f"delivered what was due; {len(left)} wait" if left else "nothing is left to tell")


def _row(one: Delivery) -> tuple[Any, ...]:
    due = f"{one.due_at:%Y-%m-%d %H:%M:%S}" if one.state is DeliveryState.WAITING else None
    notice = one.notice
    return one.id, notice.kind, notice.slice_key, one.channel, one.state, one.tries, due, one.said


def _json(one: Delivery) -> dict[str, Any]:
    notice = one.notice
    return {
        "id": one.id,
        "event_id": notice.id,
        "what": notice.kind,
        "slice_key": notice.slice_key,
        "review_id": notice.review_id,
        "decision_id": notice.decision_id,
        "action": notice.action,
        "level": notice.level,
        "channel": one.channel,
        "state": one.state,
        "tries": one.tries,
        "happened_at": notice.at.isoformat(),
        "due_at": one.due_at.isoformat() if one.state is DeliveryState.WAITING else None,
        "finished_at": None if one.finished_at is None else one.finished_at.isoformat(),
        "said": one.said,
    }
