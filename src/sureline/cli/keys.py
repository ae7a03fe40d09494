"""`sureline keys`: who may talk to the server (R12)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sureline.application.ports.keys import ApiKey, Role
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting, check_distinct

keys_app = typer.Typer(
    help="Make and revoke the server's API keys.", no_args_is_help=True, add_completion=False
)


@keys_app.command("create")
def create(
    name: Annotated[
        str,
        typer.Option(
            "--name", help="What or whom the key is for. Keys of one name are one person."
        ),
    ],
    role: Annotated[Role, typer.Option("--role", help="What the key may do.")],
    slices: Annotated[
        list[str] | None, typer.Option("--slice", help="Only this slice; repeat for more.")
    ] = None,
    trusted_sources: Annotated[
        bool,
        typer.Option(
            "--trusted-sources",
            help="For a program that fetches the sources itself: they are believed. Without it "
            "an agent's sources count as claimed.",
        ),
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make a key; its secret is shown this once and never again."""
    named = acting(name, field="name")

    async def work(services: Services) -> tuple[ApiKey, str]:
        check_distinct(named, [one.name for one in await services.keys.all(workspace)])
        return await services.keys.create(
            name=named,
            role=role,
            workspace=workspace,
            slices=tuple(slices or ()),
            at=services.clock.now(),
            trusted_sources=trusted_sources,
        )

    key, secret = on_store(work, store=store, workspace=workspace, create=True)
    if as_json:
        print_json({**_json(key), "secret": secret})
        return
    say(secret)
    note(f"key {key.id} ({key.role}) for {key.name}; the secret is not stored: keep it now")
    if key.role is Role.AGENT and not key.trusted_sources:
        note(
            "its sources count as claimed: what stands only there goes to a person; for a program "
            "that fetches them itself make the key with --trusted-sources"
        )


@keys_app.command("list")
def list_(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Show the workspace's keys without their secrets."""

    async def work(services: Services) -> list[ApiKey]:
        return list(await services.keys.all(workspace))

    keys = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json([_json(key) for key in keys])
    elif keys:
        rows = [
            (key.id, key.name, key.role, ", ".join(key.slices) or "all", _state(key))
            for key in keys
        ]
        print_table("API keys", ("id", "name", "role", "slices", "state"), rows)
    else:
        say("there are no keys")


@keys_app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from `keys list`.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Revoke a key for ever."""

    async def work(services: Services) -> None:
        await services.keys.revoke(workspace, key_id, services.clock.now())

    on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"id": key_id, "revoked": True})
    else:
        say(f"key {key_id} is revoked")


def _state(key: ApiKey) -> str:
    return "active" if key.revoked_at is None else f"revoked {key.revoked_at:%Y-%m-%d %H:%M}"


def _json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "workspace": key.workspace,
        "slices": list(key.slices),
        "trusted_sources": key.trusted_sources,
        "created_at": key.created_at.isoformat(),
        "revoked_at": None if key.revoked_at is None else key.revoked_at.isoformat(),
    }
