"""The demonstration's result for people at a terminal, and plain in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from sureline.application.report import Headline, SliceRow
from sureline.demo.report import LEFT_OUT, headline, miss_notes, slice_rows
from sureline.demo.result import DemoResult
from sureline.demo.result import Progress as Told


def print_result(console: Console, result: DemoResult) -> None:
    """Print the headline, the slices with their certificates, the routes and the reasons."""
    console.print(Text(result.about, style="dim"))
    console.print(_headline(headline(result), result))
    console.print(_slices(slice_rows(result)))
    console.print(_reasons(result))


def _table(title: str, *columns: tuple[str, bool]) -> Table:
    """Make a table; True marks a column of figures."""
    table = Table(title=title, title_justify="left", title_style="bold", expand=False)
    for name, figures in columns:
        table.add_column(
            name, justify="right" if figures else "left", no_wrap=figures, overflow="fold"
        )
    return table


def _headline(head: Headline, result: DemoResult) -> Table:
    """The result in four lines."""
    table = _table("Result", ("", False), ("", True), ("", False))
    table.show_header = False
    table.add_row(
        "Acted without a person", _percent(head.automation), f"{head.automated} of {head.items}"
    )
    table.add_row("True precision of that", _percent(head.precision), _interval(head))
    table.add_row("Target", _percent(head.target), f"wrong with probability ≤ {head.delta:g}")
    auroc = "–" if result.auroc is None else f"{result.auroc:.3f}"
    table.add_row("AUROC of the score", auroc, "1 tells right from wrong, 0.5 is chance")
    table.add_row("Right over all outputs", _percent(result.accuracy), "without a gate")
    table.caption = " ".join((head.sentence, *miss_notes(result)))
    table.caption_justify = "left"
    return table


def _interval(head: Headline) -> str:
    """Say how sure the measured precision is."""
    if head.interval is None:
        return "nothing was automated"
    low, high = head.interval
    return f"{head.correct} of {head.automated}; 95 % interval {100 * low:.1f}–{100 * high:.1f} %"


def _slices(rows: tuple[SliceRow, ...]) -> Table:
    """One line a slice."""
    table = _table(
        "Slices",
        ("Slice", False), ("Labels\ncounted / given", False), ("Automated", True), ("Right", True),
        ("Certificate, or what is missing", False),
    )  # fmt: skip
    for row in rows:
        right = row.correct / row.automated if row.automated else None
        table.add_row(
            Text(row.slice_key),
            f"{row.counted} / {row.labels}",
            f"{row.automated} of {row.decided}",
            _percent(right),
            Text(row.sentence),
        )
    table.caption = LEFT_OUT
    table.caption_justify = "left"
    return table


def _reasons(result: DemoResult) -> Table:
    """What went to people and why."""
    people = len(result.routed) - len(result.automated)
    table = _table(
        f"What went to people, and why ({people} of {len(result.routed)})",
        ("Reason", False), ("Items", True), ("For example", False),
    )  # fmt: skip
    for code, (count, example) in result.reasons.items():
        table.add_row(Text(code), str(count), Text(example))
    routes = ", ".join(f"{route} {count}" for route, count in result.routes.items())
    table.caption = f"Routes: {routes}. One item can carry several reasons."
    table.caption_justify = "left"
    return table


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


@contextmanager
def progress_bar(console: Console) -> Iterator[Told]:
    """Yield a listener that draws one bar a stage; it draws nothing where there is no terminal."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield told
