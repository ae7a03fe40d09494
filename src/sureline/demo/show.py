"""The demonstration as one call: run it, print it, write the report."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sureline.adapters.clock import SystemClock
from sureline.adapters.reports.html import write_html
from sureline.demo.corpus import SEED
from sureline.demo.documents import Columns, read_documents
from sureline.demo.items import bundled
from sureline.demo.report import report_data
from sureline.demo.result import DemoResult, result_json
from sureline.demo.run import run_demo
from sureline.demo.terminal import print_result, progress_bar
from sureline.errors import InvalidInput

REPORT = Path("sureline-demo.html")


def show_demo(
    *,
    seed: int = SEED,
    data: Path | None = None,
    columns: Sequence[str] = (),
    report: Path = REPORT,
    as_json: bool = False,
) -> DemoResult:
    """Run the main job on the bundled receipts, or on the file `data`, and show what came out.

    `columns` are pairs NAME=COLUMN for `data`. The HTML report goes to `report`; the result goes
    to standard output as tables, or as one JSON object. Raises InvalidInput where a file cannot
    be read or written.
    """
    if not report.absolute().parent.is_dir():
        raise InvalidInput(f"{report}: the folder does not exist", field="report")
    material = bundled(seed) if data is None else read_documents(data, Columns.parse(columns))
    with (
        tempfile.TemporaryDirectory() as folder,
        progress_bar(Console(stderr=True)) as progress,
    ):
        result = run_demo(material, folder=Path(folder), progress=progress)
    try:
        write_html(report_data(result, made_at=SystemClock().now()), report)
    except OSError as error:
        raise InvalidInput(f"{report}: cannot write the report: {error.strerror}") from error
    if as_json:
        values = {**result_json(result), "report": str(report)}
        sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")
        return result
    console = Console()
    print_result(console, result)
    console.print(f"Report: {report.absolute()}", soft_wrap=True, highlight=False)
    console.print(f"{result.seconds:.1f} s", style="dim", highlight=False)
    return result
