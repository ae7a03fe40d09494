"""What a decision costs, and what gives way first at 1k, 10k and 100k decisions a second.

Every constant is measured in the same run on this machine: processor time by part, rows and bytes
by table, log, transactions, connections, verification. From them follows what share of each
resource a load takes, and a simulation of the commits says what callers would wait. What the
machine cannot tell are limits of another one: they are options, and are printed.

Run: python benchmarks/scale.py [--quick] [--store both] [--to-people 0.05] [--server-cores 16]
[--json] [--write]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from figures import hand_out
from page import Section, write
from scale_constants import VARIANTS, Constants, constants
from scale_model import Site, needs, processes, simulate
from scale_parts import parts
from scale_picture import draw
from scale_sizes import Size, sizes
from stores import TITLES, Stores, add_store_option, chosen, stores

RATES = (100, 1_000, 10_000, 100_000)
WINDOW, DIMENSION, SLICES = 20_000, 256, 10
"""For the memory of a process: labelled cases a slice, numbers a vector, slices."""
DAY = 86_400
Sizes = Mapping[str, Mapping[str, Size]]


def shares(found: Constants, by_variant: Sizes, site: Site) -> list[tuple[str, ...]]:
    """Return a row for each rate."""
    alone = sum(one.size for one in by_variant["alone"].values())
    to_people = sum(one.size for one in by_variant["to a person"].values())
    size = alone + (to_people - alone) * site.to_people
    rows = []
    for rate in RATES:
        shares = needs(found, rate, site)
        name = max(shares, key=lambda one: shares[one])
        gates = processes(found, rate)
        told = simulate(found, rate, gates, site)
        rows.append(
            (
                f"{rate:,}",
                str(gates),
                *(f"{100 * share:.3g} %" for share in shares.values()),
                f"{name} ({100 * shares[name]:.3g} %)",
                f"{told.per_second:,.0f}",
                f"{1000 * told.p99:,.0f}",
                f"{rate * size * DAY / 1e9:,.0f}",
                f"{rate * found.verify * DAY / 3600:,.1f}",
            )
        )
    return rows


def site_section(found: Constants, by_variant: Sizes, site: Site) -> Section:
    """Show what each rate takes of each resource."""
    names = needs(found, 1.0, site)
    return Section(
        title=f"{TITLES[found.kind]}: what a load takes of each resource",
        note=f"{100 * site.to_people:g} % of the decisions open an item of the queue. Gate "
        f"processes at most 60 % busy, over HTTP. Limits: {site.server_cores:g} processors for the "
        f"database, {site.log_rate / 1e6:g} MB of log a second, {site.connections:g} connections. "
        "Above 100 % it does not fit. Simulated: decisions a second that are reached, and what the "
        "slowest hundredth waits. Last: what is stored in a day, and how many hours one processor "
        "takes to verify a day.",
        heading=(
            *("decisions/s", "gates", *names, "first", "reached/s", "p99, ms"),
            *("GB a day", "hours to verify a day"),
        ),
        rows=tuple(shares(found, by_variant, site)),
    )


def sizes_section(kind: str, by_variant: Sizes) -> Section:
    """Show rows and bytes a decision, table by table."""
    names = sorted({name for found in by_variant.values() for name in found})
    rows = []
    for name in names:
        cells = [by_variant[variant].get(name) for variant in VARIANTS]
        shown = ["–" if one is None else f"{one.rows:.2g} / {one.size:,.0f}" for one in cells]
        rows.append((name, *shown))
    sums = [sum(one.size for one in by_variant[variant].values()) for variant in VARIANTS]
    rows.append(("together, bytes", *(f"{one:,.0f}" for one in sums)))
    rows.append(("a day at 1,000/s, GB", *(f"{one * 1000 * DAY / 1e9:,.0f}" for one in sums)))
    return Section(
        title=f"{TITLES[kind]}: rows and bytes a decision",
        note="Receipts of the demonstration. Indexes are included; a table that grows with slices "
        "and days alone, such as counts, is left out.",
        heading=("table", *VARIANTS),
        rows=tuple(rows),
    )


def parts_section(kind: str, spent: Mapping[str, float]) -> Section:
    """Show where the processor time goes."""
    whole = sum(spent.values())
    return Section(
        title=f"{TITLES[kind]}: processor time of a decision through the library",
        note="Microseconds; receipts of the demonstration, 64 callers, no history, no queue.",
        heading=("part", "µs", "share"),
        rows=(
            *(
                (name, f"{1e6 * one:.0f}", f"{100 * one / whole:.0f} %")
                for name, one in spent.items()
            ),
            ("together", f"{1e6 * whole:.0f}", ""),
        ),
    )


def constants_section(found: Sequence[Constants]) -> Section:
    """Show the constants."""
    micro: tuple[tuple[str, list[float]], ...] = (
        ("gate process, library", [one.library for one in found]),
        ("gate process, HTTP", [one.http for one in found]),
        ("database's processes", [one.server for one in found]),
        ("transaction, fixed", [one.plain.fixed for one in found]),
        ("transaction, each decision", [one.plain.each for one in found]),
        ("with items of the queue, fixed", [one.opening.fixed for one in found]),
        ("with items of the queue, each", [one.opening.each for one in found]),
        ("verify a row", [one.verify for one in found]),
        ("flush 8 kB to the disk", [one.flush for one in found]),
    )
    rows = [(f"{name}, µs", *(f"{1e6 * one:,.0f}" for one in cells)) for name, cells in micro]
    rows.append(
        ("log, bytes a decision", *(f"{one.log:,.0f}" if one.log else "–" for one in found))
    )
    rows.append(("connections of a gate process", *(str(one.connections or "–") for one in found)))
    rows.append(
        ("verify a million rows, s", *(f"{1e6 * one.verify:,.0f}" for one in found)),
    )
    window = WINDOW * DIMENSION * 4 * SLICES / 1e6
    rows.append(
        (
            f"vectors in memory, {SLICES} slices of {WINDOW:,}, MB",
            *(f"{window:,.0f}" for _ in found),
        )
    )
    return Section(
        title="The constants",
        note="Measured in this run; times are processor time but for transactions and the flush.",
        heading=("what", *(TITLES[one.kind] for one in found)),
        rows=tuple(rows),
    )


def measured(made: Stores, count: int, seconds: float) -> tuple[Constants, Sizes, Section]:
    """Measure one store."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spent = parts(made.fresh(), folder, count)
        by_variant = {one: sizes(made, folder, one, count) for one in VARIANTS}
    return constants(made, count, seconds), by_variant, parts_section(made.kind, spent)


def main() -> None:
    """Measure, compute and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer decisions")
    parser.add_argument("--to-people", type=float, default=0.05)
    parser.add_argument("--server-cores", type=float, default=16.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the page and the picture")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    site = Site(to_people=given.to_people, server_cores=given.server_cores)
    count, seconds = (400, 2.0) if given.quick else (3_000, 8.0)
    began, every, inside = time.perf_counter(), {}, []
    for kind in chosen(given.store):
        with stores(kind) as made:
            found, by_variant, spent = measured(made, count, seconds)
        every[kind] = (found, by_variant)
        inside += [spent, sizes_section(kind, by_variant)]
    sections = [
        *(site_section(*one, site) for one in every.values()),
        constants_section([found for found, _ in every.values()]),
        *inside,
    ]
    hand_out(sections, as_json=given.json, seconds=time.perf_counter() - began)
    if given.write:
        write_page(sections)
        draw({kind: found for kind, (found, _) in every.items()}, site)


def write_page(sections: Sequence[Section]) -> None:
    """Write the page of the documentation."""
    write(
        "scale-benchmark.md",
        "Scale, measured and worked out",
        f"Written by `python benchmarks/scale.py --write` on {os.cpu_count()} processor cores, "
        "which gate, database and load share. What follows from it is explained in "
        "[scale](../explanation/scale.md).",
        sections,
    )


if __name__ == "__main__":
    main()
