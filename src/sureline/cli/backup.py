"""`sureline store backup`, `drill` and `restored`: a backup that was never tried is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.ports.audits import Erasure
from sureline.bootstrap.backup import Drill, back_up, drill, list_erasures, mark_restored
from sureline.bootstrap.heads import read_head
from sureline.cli.heads import PublicKeysOption
from sureline.cli.options import ByOption, JsonOption, StoreOption
from sureline.cli.output import print_json, print_table, progress, say
from sureline.config import store_url
from sureline.core.gate.acting import acting
from sureline.core.values.counted import counted
from sureline.errors import InvalidInput

MOST_BYTES = 256 << 20
"""A longer list of erasures is none."""


def backup(
    to: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the store into a new SQLite file as of one moment, while it is in use, and verify it.

    Of a store on PostgreSQL, too. The file has everything, the store's secret included: keep it
    as you keep the store.
    """
    with progress("copying", None) as advance:
        done = asyncio.run(back_up(store or store_url(), to, progress=advance))
    if as_json:
        print_json({**asdict(done), "path": str(done.path), "ok": True})
        return
    say(f"{done.path}: {counted(done.rows, 'row')} of the ledger, {done.size:,} bytes, verified")
    say(f"head: {done.head}")


def try_backup(
    backup: Annotated[Path, typer.Argument(help="A file of `store backup`.")],
    head: Annotated[
        Path | None,
        typer.Option("--head", help="A file of `ledger head`: says how many rows are missing."),
    ] = None,
    public_key: PublicKeysOption = None,
    empty: Annotated[
        bool, typer.Option("--empty", help="That nothing was ever recorded in it is no fault.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into a temporary folder, open it and verify all of it; the file is read.

    Says how old it is and what it lacks. Exit code 1 if it could not be used.
    """
    stated = None if head is None else read_head(head, public_key or [])
    found = asyncio.run(drill(backup, stated, may_be_empty=empty))
    if as_json:
        print_json(_drill_json(found))
    else:
        _show(found)
    raise typer.Exit(1 if found.faults else 0)


def restored(
    by: ByOption,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stays in the ledger.")],
    erasures: Annotated[
        Path | None,
        typer.Option("--erasures", help="A file of `ledger erasures --json`, to erase again."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a store into use that was restored from a backup, before anything else opens it.

    Approvals that could still be used count as used, since nobody knows which were; everything
    goes to people until somebody turns the switch off; what was erased meanwhile is erased again.
    """
    named = acting(by, field="--by")
    if not reason.strip():
        raise InvalidInput("must not be empty", field="reason")
    wanted = [] if erasures is None else _read_erasures(erasures)
    url = store or store_url()
    done = asyncio.run(mark_restored(url, by=named, reason=reason, erasures=wanted))
    if as_json:
        print_json(asdict(done))
        return
    say(f"{counted(done.voided, 'approval')} that could still be used: void")
    say(
        f"{counted(done.erased, 'payload')} erased again; {done.erased_before} were erased before, "
        f"{done.unknown} are of decisions that this store does not have"
    )
    say("everything goes to people; when you are sure: sureline switch off --reason WHY --by NAME")


def erasures(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List every erasure, of all workspaces: what must be erased again after a restore.

    Keep the list (`--json`) with your backups, but newer than them.
    """
    found = list_erasures(store or store_url())
    if as_json:
        rows = [{**asdict(one), "erased_at": one.erased_at.isoformat()} for one in found]
        print_json({"erasures": rows})
    elif found:
        print_table(
            "Erasures",
            ("when (UTC)", "workspace", "decision", "by", "why"),
            [
                (f"{one.erased_at:%Y-%m-%d %H:%M}", one.workspace, one.decision_id, one.by,
                 one.reason)
                for one in found
            ],
        )  # fmt: skip
    else:
        say("nothing was erased")


def _show(found: Drill) -> None:
    for fault in found.faults:
        say(f"do NOT rely on it: {fault}")
    if not found.faults:
        gone = counted(found.chain.erased, "payload")
        say(f"it can be restored: {counted(found.chain.rows, 'row')}, {gone} erased on record")
    for table in found.tables:
        say(table.sentence)
    if found.newest is not None and found.age is not None:
        say(f"newest row: {found.newest.isoformat()} ({_span(found.age)} ago)")
    if found.missing is not None:
        say(f"written after it, by the head: {counted(found.missing, 'row')}")
    say(f"head: {found.chain.head}")


def _span(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    if minutes < 120:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 2880 else counted(minutes // 1440, "day")


def _drill_json(found: Drill) -> dict[str, Any]:
    return {
        "ok": not found.faults,
        "faults": list(found.faults),
        "rows": found.chain.rows,
        "erased": found.chain.erased,
        "head": str(found.chain.head),
        "newest": None if found.newest is None else found.newest.isoformat(),
        "age_seconds": None if found.age is None else int(found.age.total_seconds()),
        "missing": found.missing,
        "tables": [asdict(one) for one in found.tables],
    }


def _read_erasures(file: Path) -> Sequence[Erasure]:
    """Read a list of erasures. Raises InvalidInput naming the file, the entry and the field."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        rows = json.loads(data)["erasures"] if len(data) <= MOST_BYTES else None
    except OSError as error:
        raise InvalidInput(f"cannot read the file: {error.strerror}", field=str(file)) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise InvalidInput("not a list of `sureline ledger erasures --json`", field=str(file))
    return [_erasure(row, f"{file}: erasures[{place}]") for place, row in enumerate(rows)]


def _erasure(row: Mapping[str, Any], where: str) -> Erasure:
    try:
        return Erasure(**{**row, "erased_at": datetime.fromisoformat(row["erased_at"])})
    except (TypeError, ValueError, KeyError) as error:
        raise InvalidInput(f"not an erasure ({error})", field=where) from None
