"""`sureline ledger`: prove that nothing recorded was changed, hand it out, erase what must go."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.bootstrap import Services
from sureline.bootstrap.heads import StatedHead, check_head
from sureline.cli.backup import erasures
from sureline.cli.erase import erase
from sureline.cli.evidence import check_evidence, evidence
from sureline.cli.export_lines import export_lines
from sureline.cli.heads import (
    UNCHECKED,
    HeadFinding,
    PublicKeysOption,
    common_head,
    expected_head,
    found_of,
    head,
    keygen,
)
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import as_printed, note, print_json, say
from sureline.cli.retention import retention
from sureline.cli.session import on_store
from sureline.core.chain import Head
from sureline.core.chain_export import verify_export
from sureline.core.chain_verification import ChainReport
from sureline.core.derived_verification import NOT_CHAINED, NOT_EXPORTED, TableReport
from sureline.core.gate.acting import acting
from sureline.core.schema_verification import OUT_OF_REACH, SchemaReport
from sureline.core.signed_head import HeadsMet
from sureline.core.values.counted import counted
from sureline.errors import Refused

ledger_app = typer.Typer(
    help="Verify, export and erase what was recorded.", no_args_is_help=True, add_completion=False
)
ledger_app.command("keygen")(keygen)
ledger_app.command("head")(head)
ledger_app.command("evidence")(evidence)
ledger_app.command("check-evidence")(check_evidence)
ledger_app.command("erasures")(erasures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """How many vectors of past cases can be searched, of those there are, of whatever model.

    `in_database` lie in PostgreSQL's table for windows beyond the memory; `wrong` of those are not
    what the ledger says.
    """

    ok: bool
    usable: int
    recorded: int
    in_database: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was seen of a ledger: the chain, and of a store also the past cases and the tables.

    `derived` is None where labels and counts were not compared, because the chain itself does not
    hold or because an export has none. `programs` are what runs inside the database.
    """

    chain: ChainReport
    cases: Cases | None = None
    derived: tuple[TableReport, ...] | None = None
    blind_spots: tuple[str, ...] = field(default=())
    programs: SchemaReport = field(default_factory=SchemaReport)
    against: HeadFinding | None = None

    @property
    def ok(self) -> bool:
        """Tell whether all that was looked at holds."""
        tables = all(one.ok for one in self.derived or ())
        tables &= self.against is None or not self.against.faults
        tables &= not self.programs.faults
        return self.chain.ok and tables and (self.cases is None or self.cases.ok)


@ledger_app.command("verify")
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="A ledger export; without it, the store is verified.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            help="A head written down earlier, or a file of `ledger head`, to run through.",
        ),
    ] = None,
    public_key: PublicKeysOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Verify the hash chain, what follows from it (labels, counts) and the past cases.

    Says what that cannot see. Exit code 1 if anything does not hold.
    """
    expected = expected_head(head, public_key)
    if file is not None:
        found = _verified_export(file, expected)
    else:

        async def work(services: Services) -> Verified:
            return await _verified(services, expected)

        found = on_store(work, store=store, workspace=workspace)
    _show(found, as_json)
    raise typer.Exit(0 if found.ok else 1)


def _verified_export(file: Path, expected: Head | StatedHead | None) -> Verified:
    """Look at an export, which does not say whose it is."""
    met = HeadsMet(expected.statement) if isinstance(expected, StatedHead) else None
    chain = verify_export(
        export_lines(file),
        expected=common_head(expected),
        seen=None if met is None else met.add,
    )
    unseen = (*_unchecked(expected), NOT_EXPORTED, *NOT_CHAINED)
    return Verified(chain=chain, blind_spots=unseen, against=found_of(expected, met))


def _unchecked(expected: Head | StatedHead | None) -> tuple[str, ...]:
    unsigned = isinstance(expected, StatedHead) and expected.signed_by is None
    return (UNCHECKED,) if unsigned else ()


async def _verified(services: Services, expected: Head | StatedHead | None) -> Verified:
    """Look at all of a store; where the chain does not hold, nothing can follow from it."""
    met = check_head(services, expected) if isinstance(expected, StatedHead) else None
    cases = await services.check_cases()
    chain = await services.store.ledger.verify(expected=common_head(expected))
    unseen = () if chain.ok else ("labels and counts: the ledger does not hold, so none follow",)
    programs = services.store.derived.programs()
    out_of_reach = (*programs.remarks, OUT_OF_REACH) if services.store.on_postgres else ()
    return Verified(
        chain=chain,
        cases=Cases(
            ok=cases.ok,
            usable=cases.cases,
            recorded=cases.expected,
            in_database=cases.stored,
            wrong=cases.wrong,
        ),
        derived=await services.store.derived.compare() if chain.ok else None,
        blind_spots=(*unseen, *out_of_reach, *_unchecked(expected), *NOT_CHAINED),
        programs=programs,
        against=found_of(expected, met),
    )


@ledger_app.command("rebuild")
def rebuild(
    by: ByOption,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make labels and counts anew from the ledger where they differ, and record that.

    Exit code 1, and nothing is changed, if the ledger itself does not hold.
    """
    named = acting(by, field="--by")

    async def work(services: Services) -> tuple[TableReport, ...]:
        chain = await services.store.ledger.verify()
        if chain.fault is not None:
            raise Refused(f"the ledger does not hold, so nothing was rebuilt: {_fault(chain)}")
        return await services.store.derived.rebuild(
            workspace=workspace, by=named, at=services.clock.now()
        )

    before = on_store(work, store=store, workspace=workspace, by=named)
    wrong = [one for one in before if not one.ok]
    if as_json:
        print_json({"rebuilt": bool(wrong), "before": [_table_json(one) for one in before]})
        return
    for one in wrong:
        say(f"put right: {one.sentence}")
    if wrong:
        say("certificates computed meanwhile may rest on it: look at `sureline recalibrate`")
    else:
        say("labels and counts are what the ledger says; nothing was changed")


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
            sys.stdout.write(as_printed(line.encode("utf-8")).decode("utf-8") + "\n")
            rows += 1
        return rows

    rows = on_store(work, store=store, workspace=workspace)
    note(f"{counted(rows, 'row')}, {'with' if payloads else 'without'} payloads")


ledger_app.command("erase")(erase)
ledger_app.command("retention")(retention)


def _show(found: Verified, as_json: bool) -> None:
    if as_json:
        print_json(_json(found))
    else:
        _tell(found)


def _tell(found: Verified) -> None:
    report, cases = found.chain, found.cases
    if report.fault is not None:
        say(f"the ledger does not hold: {_fault(report)}")
    else:
        gone = counted(report.erased, "payload")
        say(f"the ledger holds: {counted(report.rows, 'row')}, {gone} erased on record")
    _tell_head(found.against)
    _tell_tables(found)
    if cases is not None:
        holds = "hold" if cases.ok else "do not hold"
        say(f"the past cases {holds}: {cases.usable} of {cases.recorded} vectors can be searched")
        if cases.usable < cases.recorded:
            say(
                "history fails and people decide, as long as one that cannot is in a slice's window"
            )
        if cases.wrong:
            say(
                f"of {cases.in_database} in the database's table {cases.wrong} are wrong or "
                f"missing; to take all in again: sureline cases index --anew"
            )
    say(f"head: {report.head}")
    for blind_spot in (*report.cannot_see, *found.blind_spots):
        say(f"cannot see: {blind_spot}")


def _tell_tables(found: Verified) -> None:
    for fault in found.programs.faults:
        say(f"do NOT rely on it: {fault}")
    for table in found.derived or ():
        say(table.sentence)
    if not all(table.ok for table in found.derived or ()):
        say("certificates rest on these tables; to put them right: sureline ledger rebuild --by X")


def _tell_head(found: HeadFinding | None) -> None:
    for line in () if found is None else found.lines:
        say(line)


def _fault(report: ChainReport) -> str:
    return "" if report.fault is None else f"row {report.fault.seq}: {report.fault.message}"


def _json(found: Verified) -> dict[str, Any]:
    report, fault = found.chain, found.chain.fault
    derived = found.derived
    return {
        "ok": found.ok,
        "chain_ok": report.ok,
        "rows": report.rows,
        "head": str(report.head),
        "erased": report.erased,
        "fault": None
        if fault is None
        else {"row": fault.seq, "kind": fault.kind, "message": fault.message},
        "derived": None if derived is None else [_table_json(one) for one in derived],
        "against": None if found.against is None else found.against.as_json(),
        "programs": asdict(found.programs),
        "cases": None if found.cases is None else asdict(found.cases),
        "cannot_see": [*report.cannot_see, *found.blind_spots],
    }


def _table_json(table: TableReport) -> dict[str, Any]:
    return {**asdict(table), "ok": table.ok}
