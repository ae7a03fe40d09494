"""`sureline ledger erase`: what must go goes, and that it went is on record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sureline.application.erasure import SubjectErased
from sureline.bootstrap import Services
from sureline.bootstrap.erasing import subject_eraser
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, progress, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.counted import counted
from sureline.errors import InvalidInput


def erase(
    by: ByOption,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stays in the ledger.")],
    decision_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The id of one decision.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", help="Erase every decision about this subject instead."),
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Erase what a decision quotes: output, source, findings, vector, comments. For ever.

    With --subject, of all decisions about a subject, a few at a time; after a crash the same
    command goes on. Decisions, routes and figures stay, and the ledger still verifies.
    """
    named = acting(by, field="--by")
    if not reason.strip():
        raise InvalidInput("must not be empty", field="reason")
    if (decision_id is None) == (subject is None):
        raise InvalidInput("name a decision's id or --subject, one of them")
    if subject is not None:
        _erase_subject(subject, named, reason, store, workspace, as_json)
    elif decision_id is not None:
        _erase_decision(decision_id, named, reason, store, workspace, as_json)


def _erase_decision(
    decision_id: str, by: str, reason: str, store: str | None, workspace: str, as_json: bool
) -> None:
    async def work(services: Services) -> bool:
        erased = await services.store.ledger.erase(
            workspace, decision_id, by=by, reason=reason, at=services.clock.now()
        )
        services.plugins.forget()
        return erased

    erased = on_store(work, store=store, workspace=workspace, by=by)
    if as_json:
        print_json({"id": decision_id, "erased": erased})
    else:
        say(f"{decision_id}: erased" if erased else f"{decision_id}: there was nothing left")


def _erase_subject(
    subject: str, by: str, reason: str, store: str | None, workspace: str, as_json: bool
) -> None:
    async def work(services: Services) -> SubjectErased:
        eraser = subject_eraser(services)
        expected = await eraser.count(subject)
        with progress("erasing", expected) as advance:
            return await eraser.erase(subject, by=by, reason=reason, progress=advance)

    done = on_store(work, store=store, workspace=workspace, by=by)
    if as_json:
        print_json(asdict(done))
        return
    if done.late:
        say(f"erased what was said of {counted(done.late, 'decision')} after they were erased")
    if not done.erased and not done.views:
        say("there was nothing left about this subject")
        return
    say(
        f"erased what {counted(done.erased, 'decision')} quoted; routes, figures and labels stay, "
        f"and the erasures are on record"
    )
    if done.views:
        say(f"deleted {counted(done.views, 'saved view')} that looked for this subject")
    say("backups, exports with payloads and what was sent elsewhere are yours to clean")
