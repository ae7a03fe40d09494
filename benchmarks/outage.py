"""A judge that is out for an hour: what is automated, what waits, and how it ends.

Reproduces the tables of docs/reference/outage-benchmark.md. Real gates ask real HTTP servers on
this machine, which stop answering properly for one hour of three; hours are simulated, seconds are
real.

Run: python benchmarks/outage.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

from page import Section, options, show, write

from sureline.application.ports.models import ModelLimits
from sureline.core.values.signal import SignalState

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.model_servers import Fault, Never, Reset, Say, Step
from tests.outages import Made, Run, Traffic, run

KINDS: tuple[tuple[str, Step | None], ...] = (
    ("none", None),
    ("connections are reset", Reset()),
    ("silence", Never()),
    ("status 503", Fault(503)),
    ("prose in place of a verdict", Say("It looks fine to me.")),
    (
        "another model answers",
        Say(
            '{"reason": "", "failure_mode": null, "agrees": true, "confidence": 1}',
            model="gpt-4o-mini-next",
        ),
    ),
)
LIMIT = 2.0
"""Seconds that one question may take here."""

TITLE = "An hour without the judge, measured"
ABOUT = """`python benchmarks/outage.py --write` writes this page.

A gate decides for three simulated hours; in the second the server behind the judge does what the
first column says. The judge sees 8 % of the outputs and those near the threshold, and may take 2
seconds; it is asked over real HTTP. The same outputs with the same samples are decided once
without an outage, and compared one by one."""


def is_drawn(one: Made) -> bool:
    return one.judge.state is not SignalState.NOT_SAMPLED


def automation(name: str, one: Run, without: Run) -> tuple[str, ...]:
    kept = {made.decision.id for made in one.during(out=True) if made.decision.approved}
    before = {made.decision.id for made in without.during(out=True) if made.decision.approved}
    return (
        name,
        f"{len(list(one.during(out=True))):,}",
        f"{len(before):,}",
        f"{len(kept):,}",
        f"{len(one.automated - without.automated)}",
        f"{len(before - kept):,}",
    )


def waiting(name: str, one: Run) -> tuple[str, ...]:
    during = list(one.during(out=True))
    drawn = [made for made in during if is_drawn(made)]
    others = [1000 * made.seconds for made in during if not is_drawn(made)]
    steps = [n for n in range(one.traffic.steps) if one.traffic.is_out(n)]
    return (
        name,
        f"{len(drawn):,}",
        f"{sum(one.reached[n] for n in steps):,}",
        f"{sum(made.judge.reason == 'resting' for made in drawn):,}",
        f"{max(made.seconds for made in drawn):.1f}",
        f"{median(others):.0f}",
        recovery(one),
    )


def recovery(one: Run) -> str:
    """Return how many minutes after the outage all that is drawn is judged again."""
    after = [made for made in one.after if is_drawn(made)]
    failed = [made.step for made in after if made.judge.state is SignalState.FAILED]
    first = next(n for n in range(one.traffic.steps) if one.traffic.is_out(n))
    ends = first + sum(one.traffic.is_out(n) for n in range(one.traffic.steps))
    minutes = (max(failed) - ends + 1 if failed else 0) * one.traffic.step / timedelta(minutes=1)
    return f"{minutes:.0f}"


def main() -> None:
    given = options(__doc__)
    began = perf_counter()
    traffic = Traffic(
        step=timedelta(minutes=1),
        each=4 if given.quick else 20,
        labels=400,
        seed=given.seed,
        limits=ModelLimits(seconds=LIMIT),
    )
    runs = {name: run(traffic, outage) for name, outage in KINDS}
    without = runs["none"]
    sections = [
        Section(
            "What is automated",
            "During the hour of the outage, but for the fifth column, which is about all three. "
            "What the judge was to see goes to a person while it is out. Another model is another "
            "measurement: from its first answer on nothing is automated, and what is not drawn for "
            "the judge is not either.",
            (
                "outage",
                "decisions",
                "automated without it",
                "automated with it",
                "automated only with it",
                "sent to people by it",
            ),
            tuple(automation(name, one, without) for name, one in runs.items()),
        ),
        Section(
            "What waits, and how it ends",
            "During the hour of the outage. After five faults in a row a model rests for 15 "
            "(simulated) seconds, then one question is let through; what is asked meanwhile fails "
            "at once as `resting`. Seconds are this machine's, 20 decisions at a time; nobody has "
            "to do anything for the judge to be asked again.",
            (
                "outage",
                "drawn for the judge",
                "requests that came",
                "`resting`",
                "slowest of them, s",
                "the others, median ms",
                "minutes to recovery",
            ),
            tuple(waiting(name, one) for name, one in runs.items()),
        ),
    ]
    show(sections, perf_counter() - began)
    if given.write:
        write("outage-benchmark.md", TITLE, ABOUT, sections)


if __name__ == "__main__":
    main()
