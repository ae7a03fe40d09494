"""What the command line writes: tables and colours for a terminal, plain text for a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sureline.core.hidden_text import spelled, spelled_json
from sureline.errors import SurelineError

JSON_FLAG = "sureline.json"
"""Under which key a command's context says that errors are to be JSON."""


@dataclass(frozen=True, slots=True)
class Shaded:
    """A cell of a table with a colour, which it has on a terminal only."""

    text: str
    style: str


def print_json(value: Any) -> None:
    """Write one JSON value to standard output; moments and the like as their text."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def print_csv(text: str) -> None:
    """Write a table that `core/csv_text.py` made, its line ends as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON that hides nothing and commands no terminal."""
    return spelled_json(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def as_printed(written: bytes) -> bytes:
    """Return stored JSON as it is for a pipe, and in another spelling for a terminal."""
    if not sys.stdout.isatty():
        return written
    return spelled_json(written.decode("utf-8")).encode("utf-8")


def say(text: str) -> None:
    """Write one line to standard output; who reads along gets it now."""
    sys.stdout.write(visible(text) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Write one line to standard error: what a person wants to know and a program does not."""
    sys.stderr.write(visible(text) + "\n")


def visible(text: str) -> str:
    """Return `text` with characters that could steer a terminal or hide text spelled out."""
    return spelled(text)


def error_json(error: SurelineError) -> dict[str, Any]:
    """Return an error as JSON values: its class as code, its message, its field if known."""
    found = {"code": type(error).__name__, "message": error.message}
    field = getattr(error, "field", None)
    return found if field is None else {**found, "field": field}


def report_error(error: SurelineError, *, as_json: bool) -> None:
    """Write an error to standard error: one red line, or one JSON object."""
    if as_json:
        sys.stderr.write(json_text({"error": error_json(error)}) + "\n")
        return
    lines = [visible(line) for line in error.message.splitlines()] or [""]
    if not sys.stderr.isatty():
        sys.stderr.write("error: " + "\n  ".join(lines) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True).print(Text("error: " + "\n  ".join(lines), style="red"))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table: drawn on a terminal, aligned plain columns elsewhere."""
    cells = [[_cell_text(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        styles = [[cell.style if isinstance(cell, Shaded) else "" for cell in row] for row in rows]
        _draw(title, columns, cells, styles)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    sys.stdout.write(title + "\n")
    for row in (list(columns), *cells):
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(padded).rstrip() + "\n")


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    return visible(cell.text if isinstance(cell, Shaded) else str(cell))


def _draw(
    title: str,
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str]],
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for name in columns:
        table.add_column(name)
    for row, shades in zip(cells, styles, strict=True):
        shown = (Text(cell, style=shade) for cell, shade in zip(row, shades, strict=True))
        table.add_row(*shown)  # Text: cells are never markup
    Console().print(table)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances a bar; there is a bar on a terminal only.

    The bar tells the rate and, where `total` says how much there is, the time that is left.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many steps a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f}/s")

    columns = (*Progress.get_default_columns(), Rate())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
