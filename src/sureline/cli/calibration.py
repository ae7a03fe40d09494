"""`sureline calibration`: which thresholds hold, and the way back (L2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from sureline.application.calibrations import CalibrationChange, StoredCalibration
from sureline.application.holding import NO_CALIBRATION, share_text
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.threshold_text import threshold_text

calibration_app = typer.Typer(
    help="List, show, activate and take back calibrations.",
    no_args_is_help=True,
    add_completion=False,
)

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A calibration's id, or how it begins.")
]
ShareOption = Annotated[
    float,
    typer.Option(
        "--share",
        metavar="SHARE",
        help="For how many decisions, above 0 and at most 1; the others keep what was active.",
    ),
]
NoteOption = Annotated[str, typer.Option("--note", help="Why; it is recorded.")]


@calibration_app.command("list")
def list_(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """List the stored calibrations, newest first."""

    async def work(services: Services) -> Sequence[dict[str, Any]]:
        return await services.calibrations.stored()

    found = on_store(work, store=store, workspace=workspace)
    shown = [{**one, "created_at": one["created_at"].isoformat()} for one in found]
    if as_json:
        print_json({"calibrations": shown})
    elif shown:
        rows = [
            (one["id"], one["created_at"][:19], _state(one["active"], one["share"]))
            for one in shown
        ]
        print_table("Calibrations", ("id", "computed", ""), rows)
    else:
        say("there are none yet; `sureline recalibrate` computes one")


@calibration_app.command("show")
def show(
    calibration_id: IdArgument,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show a calibration's thresholds, and with --json all that it holds."""

    async def work(services: Services) -> StoredCalibration:
        return await services.calibrations.find(calibration_id)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({**found.body, "active": found.active, "share": found.share})
        return
    state = _state(found.active, found.share) or "not active"
    print_table(
        f"{found.id}, computed {found.created_at:%Y-%m-%d %H:%M} UTC, {state}",
        ("slice", "threshold"),
        [(key, _threshold(value)) for key, value in sorted(found.thresholds.items())],
    )


@calibration_app.command("activate")
def activate(
    calibration_id: IdArgument,
    by: ByOption,
    share: ShareOption = 1.0,
    note: NoteOption = "",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make a calibration's thresholds hold from the next decision on, in every process.

    With a share below 1 it is staged: it holds for that share, drawn by content, until it is
    activated again with the share 1, or taken back.
    """
    named = acting(by, field="--by")

    async def work(services: Services) -> CalibrationChange:
        found = await services.calibrations.find(calibration_id)
        return await services.calibrations.activate(found.id, by=named, note=note, share=share)

    _show_change(on_store(work, store=store, workspace=workspace, by=named), as_json)


@calibration_app.command("rollback")
def rollback(
    by: ByOption,
    note: NoteOption = "",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Activate again what was active before; exit code 1 if there is nothing earlier."""
    named = acting(by, field="--by")

    async def work(services: Services) -> CalibrationChange:
        return await services.calibrations.rollback(by=named, note=note)

    _show_change(on_store(work, store=store, workspace=workspace, by=named), as_json)


def _show_change(change: CalibrationChange, as_json: bool) -> None:
    if as_json:
        print_json(asdict(change))
        return
    print_table(
        "Certified thresholds",
        ("slice", "before", "after"),
        [
            (one.slice_key, _threshold(one.before), _threshold(one.after))
            for one in change.thresholds
        ],
    )
    say(_told(change))


def _told(change: CalibrationChange) -> str:
    if change.share < 1:
        for_some = f"{change.after} holds for {share_text(change.share)} of the decisions now; "
        if change.before is None:
            return f"{for_some}people decide on the others, as none was active before"
        return f"{for_some}the others keep {change.before}"
    after = "no calibration" if change.after == NO_CALIBRATION else change.after
    before = "" if change.before is None else f", instead of {change.before}"
    return f"{after} is active now{before}"


def _state(active: bool, share: float) -> str:
    if not active:
        return ""
    return "active" if share == 1 else f"active for {share_text(share)}"


def _threshold(value: float | None) -> str:
    return "none" if value is None else threshold_text(value)
