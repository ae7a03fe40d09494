"""`sureline ledger evidence` and `ledger check-evidence`: what an auditor gets, and checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.evidence import Wanted
from sureline.application.verify_ledger import verified_words
from sureline.bootstrap import Services
from sureline.bootstrap.evidence import CheckedPack, check_pack_file, make_pack
from sureline.bootstrap.heads import read_head
from sureline.cli.heads import PublicKeysOption, SignOption
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, say
from sureline.cli.session import on_store
from sureline.config import head_key
from sureline.core.chain_verification import ChainReport
from sureline.core.derived_verification import TableReport
from sureline.core.evidence import Period
from sureline.core.evidence_manifest import MOST_SAMPLE, Manifest
from sureline.core.values.counted import counted
from sureline.core.values.moment import moment_of

UNSIGNED = "who made the pack: no public key was given"


def evidence(
    from_: Annotated[
        str, typer.Option("--from", help="First day or moment (ISO 8601; UTC if bare).")
    ],
    to: Annotated[str, typer.Option("--to", help="The day or moment before which it ends.")],
    out: Annotated[Path, typer.Option("--out", help="The ZIP file to write; it must not exist.")],
    sign: SignOption = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", help="What draws the sample; let the auditor choose it."),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, max=MOST_SAMPLE, help="How many decisions to draw.")
    ] = 100,
    payloads: Annotated[
        bool,
        typer.Option("--payloads/--no-payloads", help="With or without what the sample said."),
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Put together a period's evidence: policies, certificates, acts, audits, sample and chain.

    Everything in it can be checked without the store: `sureline ledger check-evidence`. The same
    ledger and period give the same file. Exit code 1 if the ledger does not hold: the pack is made,
    and says so.
    """
    period = Period(
        workspace=workspace,
        since=moment_of(from_, field="--from"),
        until=moment_of(to, field="--to"),
    )
    wanted = Wanted(period=period, seed=seed or f"{from_} {to}", sample=sample, payloads=payloads)
    key = sign or head_key()

    faults: list[str] = []

    def tell(chain: ChainReport, tables: Sequence[TableReport]) -> None:
        faults.extend([] if chain.ok else [verified_words(chain)])
        faults.extend(one.sentence for one in tables if not one.ok)

    async def work(services: Services) -> Manifest:
        if period.until > services.clock.now():
            note("the period is not over: a later pack of it may have more rows")
        return await make_pack(services, wanted, out, key, tell=tell)

    manifest = on_store(work, store=store, workspace=workspace)
    if key is None:
        note("not signed: give a key with --sign, or in SURELINE_HEAD_KEY")
    rows = sum(one.last.seq - one.before.seq for one in manifest.streams.values())
    if as_json:
        files = {name: asdict(one) for name, one in manifest.files.items()}
        print_json(
            {
                "file": str(out),
                "rows": rows,
                "signed": key is not None,
                "files": files,
                "faults": faults,
            }
        )
    else:
        say(f"written: {out} ({counted(rows, 'row')} of the chain, seed {wanted.seed!r})")
    for fault in faults:
        note(f"warning: {fault}; the pack says so, and a signature does not make it hold")
    raise typer.Exit(1 if faults else 0)


def check_evidence(
    file: Annotated[Path, typer.Argument(help="A pack of `ledger evidence`.")],
    public_key: PublicKeysOption = None,
    head: Annotated[
        Path | None,
        typer.Option("--head", help="A file of `ledger head` that the chain must run through."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a pack of evidence on any machine, without the store: exit code 1 if it does not hold.

    Says which file does not hold and why, and what this cannot show.
    """
    stated = None if head is None else read_head(head, public_key or [])
    found = check_pack_file(file, public_key or [], stated)
    if as_json:
        print_json(_json(found))
    else:
        _show(found)
    raise typer.Exit(0 if found.report.ok else 1)


def _show(found: CheckedPack) -> None:
    period, report = found.manifest.period, found.report
    span = f"{period.since.isoformat()} to {period.until.isoformat()}"
    say(f"workspace {period.workspace}, {span}, of store {found.manifest.store}")
    if found.signed_by is not None:
        say(f"signed by {found.signed_by}")
    for one in report.findings:
        say(f"{'ok' if one.ok else 'NOT ok'}: {one.file}: {one.sentence}")
    say("the pack holds" if report.ok else "the pack does NOT hold")
    for blind_spot in _blind_spots(found):
        say(f"cannot see: {blind_spot}")


def _blind_spots(found: CheckedPack) -> tuple[str, ...]:
    return (*(() if found.signed_by else (UNSIGNED,)), *found.report.cannot_see)


def _json(found: CheckedPack) -> dict[str, Any]:
    period = found.manifest.period
    return {
        "ok": found.report.ok,
        "workspace": period.workspace,
        "from": period.since.isoformat(),
        "to": period.until.isoformat(),
        "store": found.manifest.store,
        "signed_by": found.signed_by,
        "findings": [asdict(one) for one in found.report.findings],
        "cannot_see": list(_blind_spots(found)),
    }
