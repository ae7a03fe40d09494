"""`sureline certify`: a threshold with a guarantee, from a table of scores and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.certify import LabelledColumns, SliceResult, certify_table
from sureline.bootstrap import Plugins, open_table
from sureline.cli.options import JsonOption
from sureline.cli.output import print_json, print_table, say
from sureline.core.statistics.certificate import Demand
from sureline.core.values.certificate import Certificate, ErrorRate
from sureline.core.values.threshold_text import threshold_text
from sureline.errors import InvalidInput

_COLUMNS = (
    "slice",
    "status",
    "labels",
    "threshold",
    "automated",
    "proven >=",
    "naive threshold*",
)


def certify(
    file: Annotated[Path, typer.Argument(help="CSV, JSON Lines or Parquet, one label a row.")],
    score: Annotated[str, typer.Option("--score", help="Column of scores from 0 to 1.")],
    label: Annotated[str, typer.Option("--label", help="Column of labels: 0/1 or true/false.")],
    slice_column: Annotated[
        str | None, typer.Option("--slice", help="Column of slices, each certified by itself.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="COLUMN=VALUE", help="Only these rows; repeat to narrow further."
        ),
    ] = None,
    target: Annotated[float, typer.Option("--target", help="Target precision.")] = 0.95,
    delta: Annotated[float, typer.Option("--delta", help="Allowed chance to be wrong.")] = 0.05,
    error_rate: Annotated[
        ErrorRate,
        typer.Option("--error-rate", help="What delta is for: each slice, or all together."),
    ] = ErrorRate.PER_SLICE,
    as_json: JsonOption = False,
) -> None:
    """Find the loosest threshold whose precision is proven, or say which labels are missing.

    Exits with 0 if every slice has a certificate, 1 if one has none, 2 if the input is bad.
    """
    demand = Demand(target=target, delta=delta, error_rate=error_rate)
    results = certify_table(
        open_table(file),
        LabelledColumns(score=score, label=label, slice_key=slice_column),
        where=[_condition(text) for text in where or ()],
        demand=demand,
        now=Plugins().clock.now(),
    )
    if as_json:
        print_json(_document(file, demand, results))
    else:
        _show(results, demand)
    raise typer.Exit(0 if all(result.certified for result in results) else 1)


def _condition(text: str) -> tuple[str, str]:
    column, separator, value = text.partition("=")
    if not separator or not column:
        raise InvalidInput(f"expected COLUMN=VALUE, got {text!r}", field="--where")
    return column, value


def _document(file: Path, demand: Demand, results: Sequence[SliceResult]) -> dict[str, Any]:
    return {
        "file": file.name,
        "target": demand.target,
        "delta": demand.delta,
        "error_rate": demand.error_rate.value,
        "certified": all(result.certified for result in results),
        "results": [_entry(result) for result in results],
    }


def _entry(result: SliceResult) -> dict[str, Any]:
    """Return one slice's JSON: its certificate or, without one, what is missing."""
    found = asdict(result.result)
    if isinstance(result.result, Certificate):
        found["issued_at"] = result.result.issued_at.isoformat()
        body: dict[str, Any] = {"certificate": found}
    else:
        del found["slice_key"], found["reason"], found["n"]
        body = {"certificate": None, **found}
    return {
        "slice_key": result.slice_key,
        "status": result.status,
        "n": result.labels,
        **body,
        "comparison": {
            "note": "Naive rules prove nothing; they are here for comparison only.",
            "rules": [asdict(naive) for naive in result.naive],
        },
    }


def _show(results: Sequence[SliceResult], demand: Demand) -> None:
    shared = "all slices together" if demand.error_rate is ErrorRate.FAMILY else "each slice"
    title = f"Precision >= {demand.target:g}; {shared} wrong with probability <= {demand.delta:g}"
    print_table(title, _COLUMNS, [_cells(result) for result in results])
    say("* where running precision first falls below the target: proves nothing, to compare only")
    for result in results:
        if not isinstance(result.result, Certificate):
            say(f"{result.slice_key}: {result.status}: {result.result.message}")


def _cells(result: SliceResult) -> tuple[str, ...]:
    naive = result.naive[0].threshold
    guess = "none" if naive is None else threshold_text(naive)
    name, labels, found = result.slice_key, str(result.labels), result.result
    if not isinstance(found, Certificate):
        return name, result.status, labels, "none", "0.0%", "", guess
    threshold, bound = threshold_text(found.threshold), f"{found.lower_bound:.4f}"
    return name, result.status, labels, threshold, f"{found.coverage:.1%}", bound, guess
