"""P8: claiming the next item, and a page of the queue, with a million items pending.

The queue is filled by rows, as decisions would have filled it: twenty slices, all stakes, deadlines
in any order, audits behind them, and one rare slice whose few items are the least urgent of all.
Then reviewers claim, look and search, as pages and API do. Targets: claim p99 20 ms, page p99
100 ms, whatever the list is narrowed to.

Run: python benchmarks/p8_queue.py [--store sqlite|postgres|both] [--quick] [--json]
[--items 1000000] [--repeat 400] [--folder DIR]
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import perf_counter, process_time

import psycopg
from figures import hand_out
from page import Section
from stores import TITLES, Stores, add_store_option, chosen, stores

from sureline.adapters.storage.line_rows import review_lines
from sureline.adapters.storage.review_rows import queue_counts, reviews, row_of
from sureline.adapters.storage.statement import insertion
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.inbox import Sought
from sureline.application.ports.reviews import Wanted
from sureline.bootstrap import Services, open_services
from sureline.core.values.review import Review, ReviewKind, ReviewRules, ReviewState

QUICK, FULL = 50_000, 1_000_000
CLAIM_MS, PAGE_MS = 20.0, 100.0
SLICES = 20
RARE, RARE_ITEMS = "rare", 30
PART = 20_000
PAGE = 50
SEED = 8
INSERT, COUNT, LINE = insertion(reviews), insertion(queue_counts), insertion(review_lines)
FOUND = 'total: "2135.0" is not in the source'
TASK = "Extract vendor, date and total from the invoice of "


def items(count: int, now: datetime) -> Iterator[Review]:
    """Yield a long queue: the last items are those of the rare slice."""
    draw = Random(SEED)
    for number in range(count):
        rare = number >= count - RARE_ITEMS
        audit = not rare and number % 20 == 0
        rank = -1 if audit else 0 if rare else draw.choices((0, 1, 2), (8, 3, 1))[0]
        minutes = 500_000 if rare else draw.randrange(60, 400_000)
        name = f"{draw.getrandbits(128):032x}"
        yield Review(
            workspace="default",
            id=name,
            decision_id=name,
            slice_key=RARE if rare else f"slice-{number % SLICES}",
            kind=ReviewKind.AUDIT if audit else ReviewKind.REVIEW,
            rank=rank,
            uncertainty=draw.random(),
            digest=name + name,
            opened_at=now - timedelta(seconds=count - number),
            deadline=now + timedelta(minutes=minutes),
            rules=ReviewRules(),
            submitted_by=f"key-{number % 7}",
        )


async def fill(services: Services, count: int) -> None:
    """Write the queue, a part at a time."""
    database = services.store.reviews._database
    part: list[Review] = []
    counts: Counter[tuple[str, ...]] = Counter()
    for item in items(count, services.clock.now()):
        part.append(item)
        counts[item.workspace, item.slice_key, item.kind.value, item.state.value] += 1
        if len(part) == PART:
            await write_part(services, part)
            part = []
    await write_part(services, part)
    await database.write(writing(COUNT, [(*key, n) for key, n in counts.items()]))
    if services.store.url.startswith("postgres"):
        with psycopg.connect(services.store.url, autocommit=True) as connection:
            connection.execute("ANALYZE")  # the server does so itself within a minute


async def write_part(services: Services, part: list[Review]) -> None:
    """Write items with the lines by which they are found."""
    database = services.store.reviews._database
    words = "below_threshold forced"
    lines = [
        (one.workspace, one.id, one.slice_key, TASK + one.id, words, FOUND, 0.71) for one in part
    ]
    rows = [row_of(one) for one in part]
    if services.store.url.startswith("postgres"):
        copy_rows(services.store.url, {"reviews": rows, "review_lines": lines})
        return
    await database.write(writing(INSERT, rows))
    await database.write(writing(LINE, lines))


def copy_rows(url: str, tables: Mapping[str, Sequence[tuple[object, ...]]]) -> None:
    """Write rows into tables of a database by COPY."""
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        for table, rows in tables.items():
            with cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)


def writing(statement: object, rows: list[tuple[object, ...]]) -> Callable[[Transaction], None]:
    """Return the job of writing rows."""
    return lambda transaction: transaction.run_many(statement, rows)  # type: ignore[arg-type]


Times = list[tuple[float, float]]
"""Milliseconds by the clock and of processor time, of each run."""


async def times(work: Callable[[int], Awaitable[object]], repeat: int) -> Times:
    """Return what each of `repeat` runs took."""
    found = []
    for number in range(repeat):
        start, cpu = perf_counter(), process_time()
        await work(number)
        found.append(((perf_counter() - start) * 1000, (process_time() - cpu) * 1000))
    return found


def line(what: str, found: Times, target: float) -> tuple[str, ...]:
    """Return a row: median, p99 and how that stands to the target.

    Processor time of this process is beside them, because other load touches it less.
    """
    place = min(len(found) - 1, int(0.99 * len(found)))
    wall, cpu = (sorted(one) for one in zip(*found, strict=True))
    p99 = wall[place]
    return (
        what,
        f"{wall[len(wall) // 2]:.2f}",
        f"{p99:.2f}",
        f"{cpu[place]:.2f}",
        f"<= {target:g}",
        f"{p99 / target:.2f}",
    )


async def measure(services: Services, repeat: int) -> list[tuple[str, ...]]:
    """Claim and look; return the rows of the table."""
    desk = services.desk
    rows: list[tuple[str, ...]] = []

    async def claimed(wanted: Wanted, number: int) -> None:
        found = await desk.next(f"reviewer {number % 40}", wanted)
        assert found is not None
        assert found.state is ReviewState.CLAIMED

    async def looked(wanted: Wanted, offset: int) -> None:
        found = await desk.page(wanted, limit=PAGE, offset=offset)
        assert found
        assert await desk.counts()

    async def found(sought: Sought, wanted: Wanted) -> None:
        await services.inbox.page(wanted, sought, limit=PAGE)
        assert await desk.counts()

    async def counted(sought: Sought, wanted: Wanted) -> None:
        await services.inbox.count(wanted, sought, most=99)

    everything, rare = Wanted(), Wanted(slices=(RARE,))
    several = Wanted(slices=("slice-3", "slice-11", RARE))
    audits = Wanted(kinds=(ReviewKind.AUDIT,))
    for name, wanted, runs in (
        ("claim next", everything, repeat),
        ("claim next of three slices", several, repeat),
        ("claim next of the rare slice", rare, RARE_ITEMS - 5),
        ("claim next audit", audits, repeat),
    ):
        rows.append(line(name, await times(lambda n, w=wanted: claimed(w, n), runs), CLAIM_MS))
    for name, wanted, offset in (
        ("page with counts", everything, 0),
        ("page 200 with counts", everything, 200 * PAGE),
        ("page of three slices", several, 0),
        ("page of the rare slice", rare, 0),
        ("page of audits", audits, 0),
    ):
        taken = await times(lambda _, w=wanted, o=offset: looked(w, o), repeat)
        rows.append(line(name, taken, PAGE_MS))
    soon = services.clock.now() + timedelta(hours=4)
    for name, wanted, sought in (
        ("search, found at once", everything, Sought(text="vendor invoice")),
        ("search, found nowhere", everything, Sought(text="nowhere")),
        ("the same in three slices", several, Sought(text="nowhere")),
        ("reason that none has", everything, Sought(reason="nothing_measured")),
        ("least stakes", everything, Sought(rank=0)),
        ("due soon, in all but audits", Wanted(kinds=(ReviewKind.REVIEW,)), Sought(due_by=soon)),
        ("what somebody is at", everything, Sought(is_held=True)),
    ):
        taken = await times(lambda _, w=wanted, s=sought: found(s, w), repeat)
        rows.append(line(name, taken, PAGE_MS))
        taken = await times(lambda _, w=wanted, s=sought: counted(s, w), repeat // 4)
        rows.append(line(f"count: {name}", taken, PAGE_MS))
    return rows


async def section(made: Stores, count: int, repeat: int) -> Section:
    """Fill a queue on a new store and measure."""
    store = made.fresh()
    async with open_services(store) as services:
        start = perf_counter()
        await fill(services, count)
        seconds = perf_counter() - start
        rows = await measure(services, repeat)
    return Section(
        title=f"P8 on {TITLES[made.kind]}: the queue with {count:,} items pending",
        note=f"Milliseconds, {repeat} times each, one caller; filled in {seconds:.0f} s. The "
        "processor's are of this process alone.",
        heading=("what", "median", "p99", "processor, p99", "target", "ratio"),
        rows=tuple(rows),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} items")
    parser.add_argument("--items", type=int)
    parser.add_argument("--repeat", type=int, default=400)
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's)")
    parser.add_argument("--json", action="store_true")
    add_store_option(parser)
    options = parser.parse_args(arguments)
    count = options.items or (QUICK if options.quick else FULL)
    began, found = perf_counter(), []
    for kind in chosen(options.store):
        with stores(kind, options.folder) as made:
            found.append(asyncio.run(section(made, count, options.repeat)))
    hand_out(found, as_json=options.json, seconds=perf_counter() - began)


if __name__ == "__main__":
    main()
