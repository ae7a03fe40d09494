"""`sureline watch`: is precision there, do scores and second opinions look like ever? (L3-L5)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from sureline.application.canary_standings import Standing, standing_json, warnings_of
from sureline.application.watch import SliceWatch, WatchReport, watch_json
from sureline.bootstrap import Services
from sureline.cli.opinions import show_alarms, show_answers
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store


def watch(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Test precision, scores and second opinions once; a slice that fell goes to people.

    Exit code 1 if a slice is tripped, its scores drifted or its opinions alarm, 0 if all is calm.
    """

    async def work(services: Services) -> tuple[WatchReport, tuple[Standing, ...]]:
        return await services.watcher.watch(), await services.canaries.standings()

    report, standings = on_store(work, store=store, workspace=workspace)
    if as_json:
        canaries = [standing_json(one) for one in standings]
        print_json({**watch_json(report), "canaries": canaries})
    else:
        _show(report)
        for sentence in warnings_of(standings):
            say(f"warning: {sentence}")
    raise typer.Exit(0 if report.calm else 1)


def _show(report: WatchReport) -> None:
    print_table(
        "Audited precision of what was automated",
        ("slice", "target", "audited", "wrong", "evidence", "trips at", "due", "guard"),
        [_guard_row(one) for one in report.slices],
    )
    print_table(
        "Scores of the latest whole week against the reference",
        ("slice", "week", "scores", "median was", "is", "unscored was", "is", "PSI", "drift"),
        [_drift_row(one) for one in report.slices],
    )
    print_table(
        "Automation by month",
        ("slice", "month", "decisions", "automated"),
        [row for one in report.slices for row in _month_rows(one)],
    )
    if report.opinions.opinions:
        show_answers(report.opinions)
    for one in report.slices:
        for sentence in _remarks(one):
            say(f"{one.slice_key}: {sentence}")
    show_alarms(report.opinions)


def _guard_row(one: SliceWatch) -> tuple[Any, ...]:
    guard = one.guard
    state = "TRIPPED" if guard.tripped else "calm"
    return (
        one.slice_key,
        f"{one.target:g}",
        guard.labels,
        guard.errors,
        f"{guard.evidence:.2f}",
        f"{guard.limit:.2f}",
        one.due,
        state,
    )


def _drift_row(one: SliceWatch) -> tuple[Any, ...]:
    drift = one.drift
    if drift is None:
        return (one.slice_key, "none yet", *[""] * 7)
    return (
        one.slice_key,
        drift.week,
        _figure(drift.scores.effect),
        _figure(drift.scores.before),
        _figure(drift.scores.now),
        _figure(drift.unscored.before),
        _figure(drift.unscored.now),
        _figure(drift.stability),
        "ALARM" if drift.alarm else "no",
    )


def _month_rows(one: SliceWatch) -> Iterator[tuple[Any, ...]]:
    for month in one.months[-3:]:
        yield one.slice_key, f"{month.first:%Y-%m}", month.decisions, f"{month.automation:.1%}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _remarks(one: SliceWatch) -> Iterator[str]:
    if one.turned:
        yield "precision fell; its switch is on now, and people decide"
    elif one.guard.tripped:
        yield "precision fell; people decide until somebody turns its switch off"
    if one.drift is not None and one.drift.alarm:
        yield one.drift.note
    if one.low_automation:
        yield "warning: less than half was automated in the latest month"
    found = one.detection
    if found.weeks is not None:
        rate = "" if found.two_week_rate is None else f"; {found.two_week_rate:.0%} audited: 2"
        yield (
            f"a fall to {found.precision:.2f} would show after about {found.labels} audited "
            f"outputs, {found.weeks:.1f} weeks at this volume and rate{rate}"
        )
