"""The tables of P5, on the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rivals import RULES, interval

if TYPE_CHECKING:
    from public_data import Sample
    from threshold import Cell, Results

OURS = "weighted partition (ours)"
SPLITS = (200, 1000, 5000)


@dataclass(frozen=True)
class Section:
    """A table with its title and a sentence about it."""

    title: str
    note: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def coverage_table(
    title: str, results: Results, shapes: Sequence[str], sizes: Sequence[int]
) -> Section:
    """Average coverage divided by the oracle's over the shapes that have an oracle."""
    possible = [name for name in shapes if results.oracle[name] > 0]

    def mean(rule: str, n: int) -> str:
        cells = [results.cells[rule, n, name] for name in possible]
        shares = [
            cell.coverage / cell.runs / results.oracle[name]
            for cell, name in zip(cells, possible, strict=True)
            if cell.runs
        ]
        return f"{np.mean(shares):.3f}"

    rows = [(rule, *(mean(rule, n) for n in sizes)) for rule in RULES]
    note = (
        f"Mean over {len(possible)} shapes. The last three rules prove nothing: their coverage "
        "is bought with thresholds below target (see below)."
    )
    return Section(title, note, ("rule", *(f"n = {n}" for n in sizes)), tuple(rows))


def violation_table(
    title: str, results: Results, shapes: Sequence[str], sizes: Sequence[int], delta: float
) -> Section:
    """Show the worst shape's share of samples whose threshold is truly below target."""

    def worst(rule: str, n: int) -> str:
        cells = [results.cells[rule, n, name] for name in shapes]
        cell = max((c for c in cells if c.runs), key=lambda c: c.below / c.runs, default=None)
        if cell is None:
            return "–"
        low, high = interval(cell.below, cell.runs)
        return f"{cell.below / cell.runs:.3f} [{low:.3f}, {high:.3f}]"

    rows = [(rule, *(worst(rule, n) for n in sizes)) for rule in RULES]
    ours = [results.cells[OURS, n, name] for n in sizes for name in shapes]
    above = sum(interval(c.below, c.runs)[0] > delta for c in ours)
    total, runs = sum(c.below for c in ours), sum(c.runs for c in ours)
    note = (
        f"Worst of {len(shapes)} shapes with its 95 % interval (the worst of so many is high by "
        f"selection). Ours: {total} of {runs} samples below target ({total / runs:.4f}); in "
        f"{above} of {len(ours)} cells the interval lies above delta = {delta}."
    )
    return Section(title, note, ("rule", *(f"n = {n}" for n in sizes)), tuple(rows))


def real_table(samples: Sequence[Sample], cells: dict[tuple[str, int], Cell]) -> Section:
    """Show coverage on public data, on the items that were not labelled."""
    rows = [
        (
            sample.name,
            f"{sample.target}",
            f"{sample.oracle:.2f}",
            "/".join(_mean(cells[sample.name, n]) for n in sample.sizes),
            "/".join(
                f"{cells[sample.name, n].below / _runs(cells, sample, n):.3f}" for n in sample.sizes
            ),
            sample.prototype,
        )
        for sample in samples
    ]
    heading = (
        "data",
        "target",
        "oracle",
        "coverage by n",
        "held-out below target",
        "prototype's coverage",
    )
    note = "; ".join(f"{s.name}: n = {'/'.join(map(str, s.sizes))}" for s in samples)
    return Section("Public data", note or "The data are not here.", heading, tuple(rows))


def split_table(samples: Sequence[Sample], cells: dict[tuple[str, int], Cell]) -> Section:
    """Show the held-out check on random splits of the first data set."""
    rows = []
    for sample in samples[:1]:
        for n in SPLITS:
            cell = cells[sample.name, n]
            low, high = interval(cell.below, cell.runs)
            share = f"{cell.below / cell.runs:.3f} [{low:.3f}, {high:.3f}]"
            whole = f"{cell.below_all / cell.runs:.3f}"
            none = f"{cell.none / cell.runs:.3f}"
            rows.append((str(n), str(cell.runs), share, whole, none, _mean(cell)))
    heading = (
        "n",
        "splits",
        "held-out precision below target",
        "below target on all items",
        "no certificate",
        "coverage",
    )
    note = (
        "Random splits of msp gpt-4-turbo: n items labelled, the threshold checked on the rest. "
        "The rest of a finite set is unlucky where the labels were lucky, so at n = 5000 of 21407 "
        "this check is a little harsher than the guarantee; the precision on all items is milder."
    )
    return Section("Held-out check", note, heading, tuple(rows))


def _mean(cell: Cell) -> str:
    return f"{cell.coverage / cell.runs:.2f}"


def _runs(cells: dict[tuple[str, int], Cell], sample: Sample, n: int) -> int:
    return cells[sample.name, n].runs


def rich_table(section: Section) -> Table:
    """Return a section as a table for the terminal."""
    table = Table(title=section.title, caption=section.note)
    for i, heading in enumerate(section.heading):
        table.add_column(heading, justify="right" if i else "left")
    for row in section.rows:
        table.add_row(*row)
    return table


def markdown(sections: Sequence[Section], runs: int) -> str:
    """Return the page."""
    parts = [
        "# Threshold rules compared\n",
        "Written by `python benchmarks/threshold.py --write`; the method is explained in "
        "[certificate.md](../explanation/certificate.md). Target .95, delta .05. "
        f"{runs} samples per shape and size on the named shapes, a quarter on the random ones; "
        "step-down and MAPIE see continuous shapes only, MAPIE one sample in ten, because they are "
        "slow. Nothing here was tuned on these samples. The first table leaves "
        "out three shapes that lie within .0015 of the target, on which no valid rule can "
        "automate much; the second includes the two of them that have an oracle. The prototype "
        "is the simulated test that sureline's exact one replaces.\n",
    ]
    for section in sections:
        parts.append(f"## {section.title}\n\n{section.note}\n")
        lines = ["| " + " | ".join(section.heading) + " |"]
        lines.append("|" + "---|" * len(section.heading))
        lines += ["| " + " | ".join(row) + " |" for row in section.rows]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
