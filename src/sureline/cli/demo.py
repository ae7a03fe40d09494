"""`sureline demo`: the whole path on bundled receipts, or on documents of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sureline.cli.options import JsonOption
from sureline.demo.corpus import SEED
from sureline.demo.show import REPORT, show_demo


def demo(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Real outputs with labels: a CSV, JSON Lines or Parquet file."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME=COLUMN",
            help="Where --data has id, doc, slice, source, output and correct, if not under "
            "those names. Repeat.",
        ),
    ] = None,
    report: Annotated[Path, typer.Option("--report", help="Where the HTML report goes.")] = REPORT,
    seed: Annotated[int, typer.Option("--seed", help="Which receipts are drawn.")] = SEED,
    as_json: JsonOption = False,
) -> None:
    """Log, label, certify, route and compare with the truth; then write a report.

    The bundled receipts are of invented shops, read by a deliberately simple extractor, so that
    its errors are real errors against a known truth. A reviewer is simulated. With --data the
    same runs on real documents, and whatever comes out is what it says.
    """
    show_demo(seed=seed, data=data, columns=tuple(columns or ()), report=report, as_json=as_json)
