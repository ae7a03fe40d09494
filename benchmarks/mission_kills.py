"""Kill missions at random points, on each store: does anything run on, and is anything lost?

Missions of 100 turns with a success check, evaluated every fifth turn, end in five ways: achieved,
at the ceiling of invocations, out of tokens, with a check that fails, and past the deadline. Each
is killed with SIGKILL again and again, and goes on in a new process each time; the same seed kills
at the same points. Then the store is read:

* no invocation began after the mission was suspended, over or past its deadline, or while an
  evaluation was owed;
* what was acknowledged as begun is stored, once; no invocation was evaluated twice;
* a person was called exactly once, for the right cause; the deadline is what it was at the start;
* the ledger verifies, and the tables that follow from it do.

`peers_missions.py --write` writes the page. Run:
python benchmarks/mission_kills.py [--kills 50] [--store sqlite|postgres|both] [--json]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figures import hand_out
from mission_rounds import Ending, Round, one_round
from page import Section
from stores import TITLES, add_store_option, chosen, stores

WRONG = (
    *("after_the_end", "unjudged", "unknown", "evaluated_twice"),
    *("escalations", "deadline_moved", "ended_otherwise", "broken"),
)

ABOUT = (
    "SIGKILL at random points of missions of 100 turns, each going on in a new process: "
    "within a step, between two, while a process starts. `begun` counts invocations, `lost` "
    "those whose process was killed. All columns to the right must be 0: invocations after "
    "the mission was suspended or over or past its deadline, invocations while an evaluation "
    "was owed, acknowledged ones that are not stored or stored twice, invocations evaluated "
    "twice, more or fewer than one call of a person, a moved deadline, another end than the "
    "right one, a ledger that does not verify."
)


def rounds(kind: str, kills: int, seed: int) -> list[Round]:
    """Run one mission of each ending on a store, with so many kills in all."""
    draw, found = random.Random(seed), []
    with tempfile.TemporaryDirectory() as name, stores(kind) as made:
        for number, ending in enumerate(Ending):
            folder = Path(name) / ending
            folder.mkdir()
            share = (kills + number) // len(Ending)
            store = made.fresh()
            found.append(one_round(store, folder, ending, share, draw))
            made.drop(store)
    return found


def row(kind: str, one: Round) -> tuple[str, ...]:
    """Return a mission's row of the table."""
    figures = [str(getattr(one, name)) for name in ("kills", "begun", "lost")]
    return (TITLES[kind], one.ending.value, *figures, *(str(int(getattr(one, it))) for it in WRONG))


def section(results: dict[str, Sequence[Round]]) -> Section:
    """Return the table."""
    return Section(
        title="Killed at random points",
        note=ABOUT,
        heading=("store", "mission", "kills", "begun", "lost", *WRONG),
        rows=tuple(row(kind, one) for kind, found in results.items() for one in found),
    )


def main() -> None:
    """Run the missions and print the table; exit code 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    began = time.perf_counter()
    results = {kind: rounds(kind, given.kills, given.seed) for kind in chosen(given.store)}
    table = section(results)
    hand_out([table], as_json=given.json, seconds=time.perf_counter() - began)
    raise SystemExit(1 if any(one.faults for found in results.values() for one in found) else 0)


if __name__ == "__main__":
    main()
