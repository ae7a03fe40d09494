"""`sureline recall`: list and call back what acted alone (R14)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from sureline.application.ports.recalls import RecallPage
from sureline.application.recall import (
    RecallPreview,
    covered_json,
    recall_json,
    wanted_json,
)
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, progress, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.moment import moment_of
from sureline.core.values.recall import Covered, Recall, RecallWanted
from sureline.errors import InvalidInput

Looked = tuple[RecallPreview, RecallPage]


def recall(
    certificate: Annotated[
        str | None, typer.Option("--certificate", help="What acted under this certificate.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="What this model had a part in: as judge, evaluator or generator."
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", help="What was decided under this policy's hash.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="From this day or moment on (ISO 8601, UTC).")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Before this day or moment (ISO 8601, UTC).")
    ] = None,
    slice_key: Annotated[str | None, typer.Option("--slice", help="Only in this slice.")] = None,
    requeue: Annotated[
        bool,
        typer.Option(
            "--requeue/--dry-run",
            help="Revoke the approvals and have people look again; without it only list.",
        ),
    ] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is recorded.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who does this; it is recorded.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=100_000, help="How many to list.")
    ] = 20,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List what acted alone and has all of this in common; with --requeue call it back.

    What is called back is looked at by people again, each decision once; its approval cannot be
    used any more. Nothing is released or executed. May be stopped at any moment: the same command,
    or `sureline serve`, goes on from there.
    """
    wanted = RecallWanted(
        certificate=certificate,
        model=model,
        policy=policy,
        since=_moment(since, "--since"),
        until=_moment(until, "--until"),
        slice_key=slice_key,
    )
    if requeue:
        why, who = _stated(reason, by)

        async def call_back(services: Services) -> Recall:
            return await _carried_out(services, wanted, reason=why, by=who)

        _show_done(on_store(call_back, store=store, workspace=workspace, by=who), as_json)
        return

    async def look(services: Services) -> Looked:
        recaller = services.recaller
        return await recaller.preview(wanted), await recaller.listed(wanted, after=0, limit=limit)

    _show(wanted, on_store(look, store=store, workspace=workspace), as_json)


async def _carried_out(services: Services, wanted: RecallWanted, *, reason: str, by: str) -> Recall:
    recaller = services.recaller
    begun = await recaller.start(wanted, reason=reason, by=by)
    expected = (await recaller.preview(wanted)).covered
    with progress("calling back", expected) as advance:
        return await recaller.run(begun, advance)


def _moment(text: str | None, option: str) -> datetime | None:
    return None if text is None else moment_of(text, field=option)


def _stated(reason: str | None, by: str | None) -> tuple[str, str]:
    if reason is None or not reason.strip():
        raise InvalidInput("say why: whoever reviews the items reads it", field="--reason")
    if by is None:
        raise InvalidInput("say who calls back", field="--by")
    return reason.strip(), acting(by, field="--by")


def _show(wanted: RecallWanted, looked: Looked, as_json: bool) -> None:
    preview, page = looked
    if as_json:
        print_json({"wanted": wanted_json(wanted), **preview_json(preview, page)})
        return
    if not preview.covered:
        say("nothing that acted alone is covered")
        return
    columns = ("decision", "slice", "when (UTC)", "stakes", "approval", "called back before")
    print_table("What acted alone", columns, [_row(one) for one in page.covered])
    left = preview.covered - len(page.covered)
    if left:
        say(f"... and {left:,} more (--limit)")
    say(
        f"{preview.covered:,} decisions: {preview.used:,} used already, {preview.unused:,} "
        f"approvals to revoke, {preview.recalled:,} called back before; nothing was changed "
        f"(--requeue)"
    )


def preview_json(preview: RecallPreview, page: RecallPage) -> dict[str, Any]:
    """Return what a recall would cover as JSON values."""
    return {
        "covered": preview.covered,
        "used": preview.used,
        "unused": preview.unused,
        "recalled": preview.recalled,
        "by_slice": dict(preview.by_slice),
        "decisions": [covered_json(one) for one in page.covered],
    }


def _show_done(done: Recall, as_json: bool) -> None:
    if as_json:
        print_json(recall_json(done))
        return
    erased = done.recalled - done.queued
    say(
        f"recall {done.id}: {done.recalled:,} decisions called back, {done.queued:,} wait for "
        f"people, {done.used:,} had been used already"
    )
    if erased:
        say(f"{erased:,} of them were erased: nobody can look at them again")


def _row(one: Covered) -> tuple[Any, ...]:
    return (
        one.decision_id,
        one.slice_key,
        f"{one.decided_at:%Y-%m-%d %H:%M}",
        one.stakes,
        "used" if one.used else "not used",
        one.recalled_by,
    )
