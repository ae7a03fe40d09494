"""`sureline cost`: what a gate would save, and when it is not worth it (L8, G22, G24)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sureline.application.cost import CostReport, Prices, cost_json, cost_report
from sureline.cli.options import JsonOption
from sureline.cli.output import print_json, print_table, say
from sureline.core.learning.cost import UPKEEP_MINUTES, Work


def cost(
    items: Annotated[float, typer.Option("--items", help="Items a day.")],
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds per review.")],
    to_people: Annotated[
        float,
        typer.Option("--to-people", help="Share that people still see, audits included, 0 to 1."),
    ],
    wage: Annotated[
        float | None, typer.Option("--wage", help="What an hour of reviewing costs.")
    ] = None,
    judge_price: Annotated[
        float, typer.Option("--judge-price", help="Price of one call of the judge.")
    ] = 0.0,
    judge_share: Annotated[
        float, typer.Option("--judge-share", help="Share of the items that is judged.")
    ] = 0.08,
    upkeep: Annotated[
        float, typer.Option("--upkeep", help="Minutes a day to look after the gate.")
    ] = UPKEEP_MINUTES,
    wrong: Annotated[
        float | None, typer.Option("--wrong", help="Cost of one wrong output that acted.")
    ] = None,
    retry_price: Annotated[
        float | None, typer.Option("--retry-price", help="Price of one more attempt.")
    ] = None,
    retry_correct: Annotated[
        float | None, typer.Option("--retry-correct", help="How often an attempt is correct.")
    ] = None,
    unverifiable: Annotated[
        bool, typer.Option("--unverifiable", help="No check can tell right from wrong.")
    ] = False,
    irreversible: Annotated[
        bool, typer.Option("--irreversible", help="The actions cannot be undone.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate the minutes and money that a gate saves a day, and say when it is not worth it.

    Prices are in one currency, that of the wage. Exit code 0 whatever the answer is.
    """
    report = cost_report(
        Work(
            items=items,
            seconds=seconds,
            to_people=to_people,
            judge_price=judge_price,
            judge_share=judge_share,
            wage=wage,
            upkeep_minutes=upkeep,
            verifiable=not unverifiable,
            irreversible=irreversible,
        ),
        Prices(wrong=wrong, retry=retry_price, retry_correct=retry_correct),
    )
    if as_json:
        print_json(cost_json(report))
    else:
        _show(report)


def _show(report: CostReport) -> None:
    found = report.savings
    say(f"{found.minutes_before:.0f} minutes of reviewing a day become {found.minutes_after:.0f}")
    print_table("What the gate changes a day", ("", "minutes", "money"), _rows(report))
    say(_even(report))
    for field, value in (
        ("target_precision", report.target_precision),
        ("reject_threshold", report.reject_threshold),
    ):
        if value is not None:
            say(f"these costs ask for {field}: {value:.3f}")
    for sentence in (*found.objections, *report.notes):
        say(sentence)
    say("worth it" if found.worth_it else "NOT worth it")


def _rows(report: CostReport) -> list[tuple[Any, ...]]:
    found, wage = report.savings, report.work.wage

    def row(name: str, minutes: float) -> tuple[str, str, str]:
        return name, f"{minutes:.1f}", "" if wage is None else f"{minutes / 60 * wage:.2f}"

    net = "" if found.saved_money is None else f"{found.saved_money:.2f}"
    return [
        row("reviewing everything", found.minutes_before),
        row("reviewing with the gate", found.minutes_after),
        row("looking after the gate", found.upkeep_minutes),
        ("the judge", "", f"{found.judge_money:.2f}"),
        ("saved", f"{found.saved_minutes:.1f}", net),
    ]


def _even(report: CostReport) -> str:
    even = report.savings.break_even_items
    if even is not None:
        return f"break-even at {even:.0f} items a day"
    if report.work.judge_price and report.work.wage is None:
        return "break-even: give --wage to compare the judge's price with time"
    return "break-even: at no volume"
