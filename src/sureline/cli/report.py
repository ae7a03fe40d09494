"""`sureline report`: what may act alone, what should change, and why (L1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sureline.application.calibration_report import CalibrationReport, report_json
from sureline.bootstrap import Services, write_calibration_html
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json
from sureline.cli.report_tables import show_report
from sureline.cli.session import on_store


def report(
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report to this HTML file too.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Report on every slice from the labels and decisions of now; nothing is changed or stored.

    It says which slices to loosen, which to tighten and why, in tables, as JSON with the same
    numbers, or as one HTML file with figures.
    """

    async def work(services: Services) -> CalibrationReport:
        return await services.reporter.report()

    found = on_store(work, store=store, workspace=workspace)
    if html is not None:
        write_calibration_html(found, html)
    if as_json:
        print_json(report_json(found))
    else:
        show_report(found)
    if html is not None:
        note(f"the report is in {html}")
