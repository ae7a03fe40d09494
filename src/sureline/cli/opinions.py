"""`sureline opinions`: how second opinions are doing, model by model (L5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from sureline.application.opinion_health import (
    SHOWN_DAYS,
    HealthReport,
    OpinionHealth,
    health_json,
)
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import Shaded, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.statistics.spike import Rate

FEW_ANSWERS = 0.9
"""Below this share of answers a row's coverage is coloured."""


def opinions(
    days: Annotated[
        int, typer.Option("--days", min=1, help="Days of figures, today included.")
    ] = SHOWN_DAYS,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show what judges and evaluators answered, how often they failed, how fast, at what price.

    Exit code 1 if something alarms: failures or disagreements that moved, a model that fails for
    the most part, or replies off the scale. It only looks.
    """

    async def work(services: Services) -> HealthReport:
        return await services.opinion_health.read(days)

    report = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(health_json(report))
    else:
        show_health(report)
    raise typer.Exit(1 if report.alarms else 0)


def show_health(report: HealthReport) -> None:
    """Write answers, then price and speed, then what alarms and why opinions failed."""
    if not report.opinions:
        say(f"no second opinions from {report.first} to {report.last}")
        return
    show_answers(report)
    print_table(
        "What they took",
        (
            "slice",
            "signal",
            "model",
            "a day",
            "each",
            "cost known",
            "mean",
            "95 %",
            "kept",
            "tokens",
        ),
        [_took(one) for one in report.opinions],
    )
    for one in report.opinions:
        for sentence in _remarks(one):
            say(f"{one.slice_key}: {sentence}")
    show_alarms(report)


def show_answers(report: HealthReport) -> None:
    """Write how often opinions were asked for, answered, and against an output."""
    print_table(
        f"Second opinions from {report.first} to {report.last}",
        (
            "slice",
            "signal",
            "model",
            "asked",
            "answered",
            "against",
            "mean value",
            "left out",
            "state",
        ),
        [_answers(one) for one in report.opinions],
    )


def show_alarms(report: HealthReport) -> None:
    """Write what a person must look at, a line each."""
    for alarm in report.alarms:
        say(f"{alarm.slice_key}: ALARM {alarm.sentence}")


def _answers(one: OpinionHealth) -> tuple[Any, ...]:
    coverage = one.coverage
    few = coverage is not None and coverage < FEW_ANSWERS
    kinds = ", ".join(sorted({alarm.kind.replace("_", " ") for alarm in one.alarms}))
    return (
        *_named(one),
        one.asked,
        Shaded(_share(coverage), "yellow" if few else ""),
        _rate(one.disagreements),
        "" if one.mean is None else f"{one.mean:.3f} of {one.valued}",
        one.not_sampled + sum(one.not_applicable.values()),
        Shaded(f"ALARM: {kinds}", "bold red") if kinds else Shaded("calm", "green"),
    )


def _took(one: OpinionHealth) -> tuple[Any, ...]:
    known = one.costed > 0
    return (
        *_named(one),
        f"${one.cost_a_day:.4f}" if known else "unknown",
        f"${one.cost_each:.6f}" if known else "unknown",
        _share(one.costed / one.asked if one.asked else None),
        _milliseconds(one.mean_ms),
        _milliseconds(one.p95_ms),
        _share(one.cached_share),
        f"{one.input_tokens:,} in, {one.output_tokens:,} out" if one.metered else "unknown",
    )


def _named(one: OpinionHealth) -> Sequence[str]:
    return one.slice_key, one.signal, one.model or "none named"


def _remarks(one: OpinionHealth) -> Iterator[str]:
    """Yield why opinions failed, and who really answered where that is not what was asked."""
    if one.reasons:
        reasons = ", ".join(f"{reason} {count}" for reason, count in one.reasons.items())
        yield f"{one.signal} gave no opinion {one.failures.part} times: {reasons}"
    if len(one.answered_by) > 1:
        names = ", ".join(f"{name} {count}" for name, count in sorted(one.answered_by.items()))
        yield f"several models answered as {one.model}: {names}"


def _rate(rate: Rate) -> str:
    return "" if rate.value is None else f"{100 * rate.value:.1f} %"


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _milliseconds(ms: float | None) -> str:
    return "unknown" if ms is None else f"{ms:,.0f} ms"
