"""`sureline store`: back a store up, move to another, bring one to this version's tables."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from sureline.bootstrap.copying import CopyReport, copy_between, upgrade_store
from sureline.cli.backup import backup, restored, try_backup
from sureline.cli.options import JsonOption, StoreOption
from sureline.cli.output import print_json, print_table, progress, say
from sureline.config import store_url
from sureline.errors import InvalidInput

store_app = typer.Typer(
    help="Back a store up, try backups, copy it to another, upgrade it.",
    no_args_is_help=True,
    add_completion=False,
)
store_app.command("backup")(backup)
store_app.command("drill")(try_backup)
store_app.command("restored")(restored)

StoreArgument = Annotated[
    str, typer.Argument(help="Such as sqlite:///sureline.db or postgresql://host/database.")
]


@store_app.command("copy")
def copy(from_: StoreArgument, to: StoreArgument, as_json: JsonOption = False) -> None:
    """Copy everything from one store into an empty one, and verify the copy.

    Stop what writes to the first store before. Keys, samples and links go on as they were, since
    the store's secret is copied too. Exit code 1 if the copy does not prove to be the same.
    """
    with progress("copying rows", None) as advance:
        found = asyncio.run(copy_between(from_, to, progress=advance))
    if as_json:
        print_json({**asdict(found), "ok": found.problem is None})
    else:
        _show(found)
    raise typer.Exit(0 if found.problem is None else 1)


def _show(found: CopyReport) -> None:
    rows = [(name, f"{count:,}") for name, count in found.rows.items() if count]
    print_table("Copied", ("table", "rows"), rows)
    if found.problem is not None:
        say(f"do NOT use the copy: {found.problem}")
        return
    say("verified: chain, rows, labels and counts are the same")
    say(f"head: {found.head}")


@store_app.command("upgrade")
def upgrade(
    address: Annotated[
        str | None, typer.Argument(metavar="[STORE]", help="The store; or give --store.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a store to this version's tables now, before the processes that use it start.

    In an empty database it makes them. Several at once do it once.
    """
    if address is not None and store is not None and address != store:
        raise InvalidInput("expected one store, as an argument or by --store", field="store")
    found = upgrade_store(address or store or store_url())
    upgraded = found.before != found.after
    if as_json:
        print_json({**asdict(found), "upgraded": upgraded})
    elif found.before is None:
        say(f"{found.store} has this version's tables: made a new store, schema {found.after}")
    elif upgraded:
        said = f"upgraded from schema {found.before} to {found.after}"
        say(f"{found.store} has this version's tables: {said}")
    else:
        say(f"{found.store} has this version's tables: schema {found.after}, nothing to do")
