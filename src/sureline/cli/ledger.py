"""`sureline ledger`: prove that nothing recorded was changed, hand it out, erase what must go."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, say
from sureline.cli.session import on_store
from sureline.core.chain import Head
from sureline.core.chain_export import verify_export
from sureline.core.chain_verification import ChainReport
from sureline.errors import InvalidInput

ledger_app = typer.Typer(
    help="Verify, export and erase what was recorded.", no_args_is_help=True, add_completion=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """How many past cases can be searched, of those recorded for the embedder in use."""

    ok: bool
    usable: int
    recorded: int


@ledger_app.command("verify")
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="A ledger export; without it, the store is verified.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", help="A head written down earlier; the chain must run through it."),
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Verify the hash chain and the past cases, and say what that cannot see.

    Exit code 1 if either does not hold.
    """
    expected = None if head is None else Head.parse(head)
    if file is not None:
        report, cases = verify_export(_export_lines(file), expected=expected), None
    else:

        async def work(services: Services) -> tuple[ChainReport, Cases]:
            found = await services.check_cases()
            chain = await services.store.ledger.verify(expected=expected)
            return chain, Cases(ok=found.ok, usable=found.cases, recorded=found.expected)

        report, cases = on_store(work, store=store, workspace=workspace)
    _show(report, cases, as_json)
    raise typer.Exit(0 if report.ok and (cases is None or cases.ok) else 1)


@ledger_app.command("export")
def export(
    payloads: Annotated[
        bool,
        typer.Option("--payloads/--no-payloads", help="With or without what proposals said."),
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,  # noqa: ARG001 - the export is JSON Lines either way
) -> None:
    """Write the whole ledger as JSON Lines that `ledger verify FILE` checks without the store."""

    async def work(services: Services) -> int:
        rows = 0
        for line in services.store.ledger.export(payloads=payloads):
            sys.stdout.write(line + "\n")
            rows += 1
        return rows

    rows = on_store(work, store=store, workspace=workspace)
    note(f"{rows} rows, {'with' if payloads else 'without'} payloads")


@ledger_app.command("erase")
def erase(
    decision_id: Annotated[str, typer.Argument(metavar="ID", help="The decision's id.")],
    by: ByOption,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stays in the ledger.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Erase what a decision quotes: output, source, findings, vector, comments. For ever.

    The decision, its route and its figures stay, and the ledger still verifies.
    """
    for name, text in (("reason", reason), ("by", by)):
        if not text.strip():
            raise InvalidInput("must not be empty", field=name)

    async def work(services: Services) -> bool:
        return await services.store.ledger.erase(
            workspace, decision_id, by=by, reason=reason, at=services.clock.now()
        )

    erased = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"id": decision_id, "erased": erased})
    else:
        say(f"{decision_id}: erased" if erased else f"{decision_id}: there was nothing left")


def _export_lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8") as lines:
            yield from lines
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file}: not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise InvalidInput(f"{file}: cannot open the file: {error.strerror}") from None


def _show(report: ChainReport, cases: Cases | None, as_json: bool) -> None:
    if as_json:
        print_json(_json(report) | {"cases": None if cases is None else asdict(cases)})
        return
    if report.fault is not None:
        say(f"the ledger does not hold: row {report.fault.seq}: {report.fault.message}")
    else:
        say(f"the ledger holds: {report.rows} rows, {report.erased} payloads erased on record")
    if cases is not None:
        holds = "hold" if cases.ok else "do not hold; history fails and people decide"
        say(f"the past cases {holds}: {cases.usable} of {cases.recorded} can be searched")
    say(f"head: {report.head}")
    for blind_spot in report.cannot_see:
        say(f"cannot see: {blind_spot}")


def _json(report: ChainReport) -> dict[str, Any]:
    fault = report.fault
    return {
        "ok": report.ok,
        "rows": report.rows,
        "head": str(report.head),
        "erased": report.erased,
        "fault": None
        if fault is None
        else {"row": fault.seq, "kind": fault.kind, "message": fault.message},
        "cannot_see": list(report.cannot_see),
    }
