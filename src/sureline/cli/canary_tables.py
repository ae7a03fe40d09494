"""Runs of the canaries as tables, with colours and a curve on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sureline.application.canary_evaluators import Examinee
from sureline.application.canary_history import Point, Trail, detectable, why
from sureline.cli.output import Shaded, print_table, say, visible
from sureline.core.opinions.canary import FailureMode
from sureline.core.opinions.canary_run import LINE, CanaryOutcome, CanaryRun, CanaryScore

COLUMNS = ("failure mode", "canaries", "lowest", "highest", "wrong", "not measured", "result")
STYLES = {"ok": "green", "passed": "green", "FAILED": "bold red", "incomplete": "yellow"}
BARS = "▁▂▃▄▅▆▇█"
KEPT_RUNS = 24
"""How many of the latest runs a curve shows."""


def show_runs(asked: Sequence[Examinee], runs: Sequence[CanaryRun]) -> None:
    """Write a table by failure mode for each model, and what it comes to."""
    for one, run in zip(asked, runs, strict=True):
        who = run.evaluator
        answered = "" if who.answered in {None, who.asked} else f", answered by {who.answered}"
        print_table(f"{who.role} {who.asked}{answered}", COLUMNS, list(_mode_rows(run)))
        _say_styled(f"{_word(run)}: {why(run)}", STYLES[_word(run)])
        for sentence in _remarks(one, run):
            say(sentence)


def _mode_rows(run: CanaryRun) -> Iterator[tuple[Any, ...]]:
    for mode in FailureMode:
        side = [one for one in run.bad if one.mode is mode]
        if side:
            wrong = [one for one in run.caught_out if one.mode is mode]
            yield _row(str(mode), side, wrong, failed=bool(wrong))
    yield _row("none: good", run.good, run.refused, failed=run.refuses_everything)


def _row(
    name: str, side: Sequence[CanaryScore], wrong: Sequence[CanaryScore], *, failed: bool
) -> tuple[Any, ...]:
    known = [one.score for one in side if one.score is not None]
    unknown = len(side) - len(known)
    result = "FAILED" if failed else "ok" if known else "incomplete"
    low, high = (f"{each(known):.2f}" if known else "" for each in (min, max))
    return name, len(side), low, high, len(wrong), unknown or "", _shaded(result)


def _word(run: CanaryRun) -> str:
    return "FAILED" if run.outcome is CanaryOutcome.FAILED else str(run.outcome)


def _shaded(result: str) -> Shaded:
    return Shaded(result, STYLES[result])


def _remarks(one: Examinee, run: CanaryRun) -> Iterator[str]:
    if run.caught_out:
        yield f"  read what it let pass: sureline canaries list --json --seed {run.seed}"
    if run.line != LINE:
        yield f"  the line was {run.line:g}, not {LINE:g}: this run changes nothing in the gate"
    elif run.outcome is CanaryOutcome.FAILED and one.bound:
        yield f"  its signal is failed from now on in: {', '.join(one.bound)}"
    elif run.outcome is CanaryOutcome.FAILED:
        yield "  warning: it is still used, because no slice says `must_pass_canaries: true`"
    elif run.outcome is CanaryOutcome.INCOMPLETE and one.bound:
        yield "  an incomplete run changes nothing: what held before goes on holding"


def show_history(found: Sequence[Trail]) -> None:
    """Write the runs of each model, and a curve of their means on a terminal."""
    for trail in found:
        print_table(
            f"{trail.role} {trail.asked}",
            ("run (UTC)", "answered by", "bad", "good", "p bad", "p good", "changed", "result"),
            [_history_row(point) for point in trail.points],
        )
        if sys.stdout.isatty():
            say(f"  bad  {_curve([point.bad for point in trail.points])}")
            say(f"  good {_curve([point.good for point in trail.points])}")
        for sentence in _moves(trail):
            say(f"  {sentence}")
        say(f"  {detectable(trail.points[-1].run)}")


def _history_row(point: Point) -> tuple[Any, ...]:
    run = point.run
    return (
        f"{run.at:%Y-%m-%d %H:%M}",
        run.evaluator.answered or "",
        _figure(point.bad),
        _figure(point.good),
        "" if point.bad_change is None else f"{point.bad_change.p:.3f}",
        "" if point.good_change is None else f"{point.good_change.p:.3f}",
        ", ".join(point.changed),
        _shaded(_word(run)),
    )


def _moves(trail: Trail) -> Iterator[str]:
    """Yield a sentence for each run whose scores moved by more than chance."""
    for point in trail.points:
        changes = {"bad": point.bad_change, "good": point.good_change}
        for side in point.moved:
            change = changes[side]
            if change is not None:
                way = "up" if change.mean > 0 else "down"
                yield (
                    f"{point.run.at:%Y-%m-%d}: {side} ones went {way} by {abs(change.mean):.2f} on "
                    f"average ({change.moved} of {change.pairs} moved, p = {change.p:.3f})"
                )


def _curve(values: Sequence[float | None]) -> str:
    """Return one bar for each of the latest values in [0, 1], a dot where there is none."""
    return "".join(
        "·" if one is None else BARS[min(int(one * len(BARS)), len(BARS) - 1)]
        for one in values[-KEPT_RUNS:]
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _say_styled(text: str, style: str) -> None:
    if not sys.stdout.isatty():
        say(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(soft_wrap=True).print(Text(visible(text), style=style))
