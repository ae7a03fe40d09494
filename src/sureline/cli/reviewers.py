"""`sureline reviewers`: see whether people look at what they approve (R7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from sureline.application.review.reviewer_words import WHAT_THEN, flag_reason
from sureline.application.review.reviewers import Reviewer, ReviewersReport, reviewers_json
from sureline.application.review.unplanted_words import unplanted_sentence
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.statistics.attention import Detection
from sureline.core.statistics.kappa import Kappa


def reviewers(
    only: Annotated[
        str | None, typer.Option("--only", help="One person's figures: what that person sees.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show how reviewers work: planted errors noticed, time, streaks, agreement; of 90 days."""

    async def work(services: Services) -> ReviewersReport:
        found = services.reviewers
        return await (found.everybody() if only is None else found.only(only))

    report = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(reviewers_json(report))
        return
    for key, why in report.unplanted.items():
        say(f"{key}: {unplanted_sentence(why)}")
    if not report.reviewers:
        say("nobody has reviewed anything in the last 90 days")
        return
    columns = (
        "who", "slice", "items", "approved", "median s", "95 % within s", "streak",
        "planted errors noticed",
    )  # fmt: skip
    print_table("Reviewers", columns, [row for one in report.reviewers for row in _rows(one)])
    if report.by_slice:
        pairs = [*_agreement(report)]
        print_table("Agreement", ("of", "pairs", "agreed", "kappa", "95 % interval"), pairs)
    for one in report.reviewers:
        if one.attention.flagged:
            say(f"{one.name}: {flag_reason(one)} {WHAT_THEN}")


def _rows(one: Reviewer) -> Iterator[tuple[str, ...]]:
    slices = [(one.name, each.slice_key, each.work, each.detection) for each in one.slices]
    ways = [(each.by, "all", each.work, each.detection) for each in one.ways]
    for name, slice_key, work, detection in (*slices, *ways):
        yield (
            name,
            slice_key,
            str(work.items),
            str(work.approved),
            _seconds(work.median_seconds),
            _seconds(work.p95_seconds),
            f"{work.streak} (longest {work.longest_streak})",
            _noticed(detection),
        )


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _noticed(found: Detection) -> str:
    if found.share is None:
        return "none shown yet"
    low, high = found.interval
    return f"{found.caught} of {found.shown} (95 %: {low:.2f} to {high:.2f})"


def _agreement(report: ReviewersReport) -> Iterator[tuple[str, ...]]:
    for key, one in report.by_slice.items():
        yield key, *_kappa(one)
    for names, one in report.by_pair.items():
        yield " and ".join(names), *_kappa(one)


def _kappa(one: Kappa) -> tuple[str, ...]:
    low, high = one.interval
    value = "" if one.value is None else f"{one.value:.2f}"
    agreed = "" if one.agreed is None else f"{100 * one.agreed:.0f} %"
    return str(one.pairs), agreed, value, f"{low:.2f} to {high:.2f}"
