"""Tables of a benchmark, on the terminal and as a page of the documentation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

PAGES = Path(__file__).parents[1] / "docs" / "reference"


@dataclass(frozen=True)
class Section:
    """A table with its title and a sentence about it."""

    title: str
    note: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def options(about: str | None) -> argparse.Namespace:
    """Read `--quick`, `--seed` and `--write`."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page in docs/reference")
    return parser.parse_args()


def show(sections: Sequence[Section], seconds: float) -> None:
    """Print the tables."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    for section in sections:
        table = Table(title=section.title, caption=section.note)
        for i, heading in enumerate(section.heading):
            table.add_column(heading, justify="right" if i else "left")
        for row in section.rows:
            table.add_row(*row)
        console.print(table)
    console.print(f"{seconds:.0f} s")


def write(name: str, title: str, about: str, sections: Sequence[Section]) -> None:
    """Write the page `name`."""
    parts = [f"# {title}\n", f"{about}\n"]
    for section in sections:
        lines = ["| " + " | ".join(section.heading) + " |", "|" + "---|" * len(section.heading)]
        lines += ["| " + " | ".join(row) + " |" for row in section.rows]
        parts.append(f"## {section.title}\n\n{section.note}\n\n" + "\n".join(lines) + "\n")
    (PAGES / name).write_text("\n".join(parts), encoding="utf-8")
