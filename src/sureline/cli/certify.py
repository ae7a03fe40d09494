"""`sureline certify`: a threshold with a guarantee, from a table of scores and labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureline.core.values.certificate import Certificate, ErrorRate
from sureline.errors import InvalidInput, SurelineError

if TYPE_CHECKING:
    from rich.console import Console

    from sureline.application.certify import SliceResult
    from sureline.core.statistics.certificate import Demand


def certify(
    file: Annotated[
        Path, typer.Argument(help="CSV, JSONL or Parquet file, one labelled item a row.")
    ],
    score: Annotated[str, typer.Option(help="Column of scores from 0 to 1.")],
    label: Annotated[str, typer.Option(help="Column of labels: 0 or 1, true or false.")],
    slice_column: Annotated[
        str | None, typer.Option("--slice", help="Column of slices, each certified by itself.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows in which COLUMN=VALUE; repeat to narrow further."),
    ] = None,
    target: Annotated[float, typer.Option(help="Target precision.")] = 0.95,
    delta: Annotated[float, typer.Option(help="Allowed failure probability.")] = 0.05,
    error_rate: Annotated[
        ErrorRate, typer.Option(help="What delta is spread over: each slice, or all together.")
    ] = ErrorRate.PER_SLICE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the loosest threshold whose precision is proven, or say which labels are missing.

    Exits with 0 if every slice has a certificate, 1 if one has none, 2 if the input is bad.
    """
    from sureline.application.certify import LabelledColumns, certify_table
    from sureline.bootstrap import Plugins, open_table
    from sureline.core.statistics.certificate import Demand

    try:
        demand = Demand(target=target, delta=delta, error_rate=error_rate)
        results = certify_table(
            open_table(file),
            LabelledColumns(score=score, label=label, slice_key=slice_column),
            where=[_condition(text) for text in where or ()],
            demand=demand,
            now=Plugins().clock.now(),
        )
    except SurelineError as error:
        typer.echo(f"Error: {error.message}", err=True)
        raise typer.Exit(error.exit_code) from error
    if as_json:
        typer.echo(json.dumps(_document(file, demand, results), indent=2))
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
    """Return one slice's JSON; certificate fields or, without one, what is missing."""
    found = asdict(result.result)
    if isinstance(result.result, Certificate):
        found["issued_at"] = result.result.issued_at.isoformat()
        body: dict[str, Any] = {"status": "certified", "certificate": found}
    else:
        body = {"status": found.pop("reason").value, "certificate": None, **found}
    body.pop("slice_key", None)
    comparison = [asdict(naive) for naive in result.naive]
    note = "Naive rules prove nothing; they are here for comparison only."
    return {
        "slice_key": result.slice_key,
        "n": result.labels,
        **body,
        "comparison": {"note": note, "rules": comparison},
    }


def _show(results: Sequence[SliceResult], demand: Demand) -> None:
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        _print_table(console, results, demand)
    else:
        for result in results:
            typer.echo("\n".join(_lines(result)))


def _print_table(console: Console, results: Sequence[SliceResult], demand: Demand) -> None:
    from rich.table import Table

    table = Table(
        title=f"Precision >= {demand.target:g}, wrong with probability <= {demand.delta:g}"
    )
    for heading in ("slice", "labels", "threshold", "automated", "proven >=", "naive threshold*"):
        table.add_column(heading, justify="left" if heading == "slice" else "right")
    for result in results:
        table.add_row(*_cells(result))
    console.print(table)
    console.print("* running precision first below the target; proves nothing, for comparison only")
    for result in results:
        if not isinstance(result.result, Certificate):
            console.print(
                f"{result.slice_key}: {result.result.reason.value}: {result.result.message}",
                markup=False,
                highlight=False,
            )


def _cells(result: SliceResult) -> tuple[str, ...]:
    from rich.markup import escape

    naive = result.naive[0]
    guess = "none" if naive.threshold is None else f"{naive.threshold:.6g}"
    name, labels = escape(result.slice_key), str(result.labels)
    if not isinstance(result.result, Certificate):
        return name, labels, "none", "0 %", "", guess
    found = result.result
    return (
        name,
        labels,
        f"{found.threshold:.6g}",
        f"{found.coverage:.1%}",
        f"{found.lower_bound:.4f}",
        guess,
    )


def _lines(result: SliceResult) -> list[str]:
    """Return what is printed where nobody watches: one fact a line, no decoration."""
    found = result.result
    if isinstance(found, Certificate):
        lines = [
            f"{result.slice_key}: certified",
            f"  threshold: {found.threshold!r}",
            f"  coverage: {found.coverage:.4f} ({found.in_band} of {found.n} labels)",
            f"  lower_bound: {found.lower_bound:.4f} (target {found.target:g}, "
            f"delta {found.delta:g}, {found.error_rate.value})",
            f"  certificate: {found.id}",
        ]
    else:
        lines = [f"{result.slice_key}: {found.reason.value}", f"  {found.message}"]
    for naive in result.naive:
        threshold = "none" if naive.threshold is None else f"{naive.threshold!r}"
        lines.append(f"  {naive.rule.value} (proves nothing): {threshold}")
    return lines
