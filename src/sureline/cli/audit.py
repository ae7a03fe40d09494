"""`sureline audit`: answer the random sample of what was automated (G23)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from sureline.application.audit import MOST, AuditItem
from sureline.application.ports.audits import DueAudit
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import Session, check_speaker, on_store, session
from sureline.cli.standing import Standing, labelled, standing
from sureline.core.gate.acting import acting
from sureline.core.values.outcome import Outcome
from sureline.errors import InvalidInput

audit_app = typer.Typer(
    help="Answer the random sample of what was automated.", add_completion=False
)

SliceOption = Annotated[str | None, typer.Option("--slice", help="Only this slice.")]
BlindOption = Annotated[
    bool,
    typer.Option(
        "--blind/--in-sight",
        help="Blind: you settled what is right from task and source before seeing the output.",
    ),
]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The decision's id.")]
_KEYS = "c correct, w wrong, s skip for now, q quit"


@audit_app.callback(invoke_without_command=True)
def walk_through(
    ctx: typer.Context,
    by: Annotated[str | None, typer.Option("--by", help="Who audits; it is recorded.")] = None,
    slice_key: SliceOption = None,
    blind: BlindOption = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
) -> None:
    """Walk through the due audits one by one, with single keys; or use a command below."""
    if ctx.invoked_subcommand is not None:
        return
    if not (by or "").strip() or by is None:
        raise InvalidInput("say who audits", field="--by")
    named = acting(by, field="--by")
    if not sys.stdin.isatty():
        raise InvalidInput(
            "single keys need a terminal; elsewhere use `sureline audit list`, `show` and `answer`"
        )
    with session(store, workspace, create=False) as opened:
        opened.run(check_speaker(opened.services, named))
        due = opened.run(opened.services.auditor.due(slice_key))
        answered = walk(opened, due, by=named, blind=blind, key=typer.getchar)
        left = len(opened.run(opened.services.auditor.due(slice_key)))
    say(f"{answered} answered, {_counted(left)} still due")


@audit_app.command("list")
def list_(
    slice_key: SliceOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="At most so many.")] = 50,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List the audits that wait longest, mixed up, so that no answer suggests the next."""

    async def work(services: Services) -> Sequence[DueAudit]:
        return await services.auditor.due(slice_key, limit=limit)

    due = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"due": [due_json(one) for one in due]})
    elif due:
        rows = [(one.decision_id, one.slice_key, _moment(one)) for one in due]
        print_table("Audits that are due", ("id", "slice", "decided"), rows)
    else:
        say("no audit is due")


@audit_app.command("show")
def show(
    decision_id: IdArgument,
    blind: Annotated[
        bool, typer.Option("--blind", help="Leave the output out: settle what is right first.")
    ] = False,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show what an auditor is to look at: nothing of the gate's own view of it."""

    async def work(services: Services) -> AuditItem:
        return await services.auditor.show(decision_id)

    item = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(item_json(item, with_output=not blind))
        return
    for line in (*_question(item), *(() if blind else _output(item))):
        say(line)


@audit_app.command("answer")
def answer(
    decision_id: IdArgument,
    by: ByOption,
    correct: Annotated[
        bool | None, typer.Option("--correct/--wrong", help="Was the output right?")
    ] = None,
    blind: BlindOption = False,
    comment: Annotated[
        str | None, typer.Option("--comment", help="Anything worth keeping.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Record whether an audited output was right; that is a label."""
    if correct is None:
        raise InvalidInput("say --correct or --wrong")
    named = acting(by, field="--by")

    async def work(services: Services) -> tuple[Outcome, Standing]:
        given = await services.auditor.answer(
            decision_id, correct=correct, by=named, anchored=not blind, comment=comment
        )
        return given, standing(given, await services.ledger.outcomes(workspace, decision_id))

    recorded, told = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(
            {
                "id": recorded.id,
                "decision_id": recorded.decision_id,
                "correct": recorded.correct,
                "by": recorded.by,
                "anchored": recorded.anchored,
                "recorded_at": recorded.recorded_at.isoformat(),
                **told.as_json(),
            }
        )
    else:
        say(f"{decision_id}: {labelled(recorded)}, by {recorded.by}")
        for line in told.lines(recorded):
            say(line)


def walk(
    opened: Session, due: Sequence[DueAudit], *, by: str, blind: bool, key: Callable[[], str]
) -> int:
    """Show each item and record the key that is pressed; return how many were answered.

    What is skipped stays due: an audit of only the easy ones would say nothing.
    """
    answered = 0
    for place, one in enumerate(due, start=1):
        item = opened.run(opened.services.auditor.show(one.decision_id))
        say(f"-- {place} of {len(due)}")
        for line in _question(item):
            say(line)
        if blind:
            say("settle what is right; then press a key to see the output")
            key()
        for line in _output(item):
            say(line)
        pressed = _pressed(key)
        if pressed == "q":
            break
        if pressed != "s":
            opened.run(
                opened.services.auditor.answer(
                    one.decision_id, correct=pressed == "c", by=by, anchored=not blind
                )
            )
            say("recorded: correct" if pressed == "c" else "recorded: wrong")
            answered += 1
    return answered


def _pressed(key: Callable[[], str]) -> str:
    """Ask until one of the four keys is pressed."""
    say(_KEYS)
    while (pressed := key().lower()) not in {"c", "w", "s", "q"}:
        say(_KEYS)
    return pressed


def _question(item: AuditItem) -> Iterator[str]:
    yield f"{item.decision_id} ({item.slice_key})"
    yield "task:"
    yield from _indented(item.task)
    for ref, text in item.source:
        yield f"source {ref}:"
        yield from _indented(text)


def _output(item: AuditItem) -> Iterator[str]:
    yield "output:"
    output = item.output
    shown = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)
    yield from _indented(shown)


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"  {line}"


def _counted(left: int) -> str:
    return f"{left} or more" if left >= MOST else str(left)


def _moment(one: DueAudit) -> str:
    return one.decided_at.isoformat(timespec="seconds")


def due_json(one: DueAudit) -> dict[str, Any]:
    """Return a due audit as JSON values."""
    return {
        "decision_id": one.decision_id,
        "slice_key": one.slice_key,
        "decided_at": one.decided_at.isoformat(),
    }


def item_json(item: AuditItem, *, with_output: bool) -> dict[str, Any]:
    """Return what an auditor sees as JSON values."""
    shown = {
        "decision_id": item.decision_id,
        "slice_key": item.slice_key,
        "decided_at": item.decided_at.isoformat(),
        "task": item.task,
        "source": [{"ref": ref, "text": text} for ref, text in item.source],
    }
    return {**shown, "output": item.output} if with_output else shown
