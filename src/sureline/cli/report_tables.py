"""The calibration report on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from sureline.application.calibration_report import (
    STANDING_NOTES,
    CalibrationReport,
    Quality,
    SliceReport,
)
from sureline.application.mistakes import Mistakes
from sureline.application.rejected_clusters import RejectedClusters
from sureline.application.watch import SliceWatch
from sureline.cli.opinion_tables import show_opinions
from sureline.cli.output import print_table, say
from sureline.core.learning.suggestions import Advice
from sureline.core.statistics.curves import Histogram
from sureline.core.values.threshold_text import threshold_text

WORDS = {
    Advice.TIGHTEN: "tighten",
    Advice.REPAIR: "repair",
    Advice.LOOSEN: "loosen",
    Advice.COLLECT: "label more",
    Advice.KEEP: "leave alone",
}
SLICE_LABELS = (
    "labels: of a fair sample; left out are those of outputs that no threshold could automate (a "
    "fatal check, a missing signal)"
)
LISTED = 3
"""Mistakes of a slice that a terminal shows; the HTML file and JSON have up to 50."""


def show_report(report: CalibrationReport) -> None:
    """Write the report as tables: first what should change and why, then the figures."""
    _say_each("note: ", report.news)
    for advice, word in WORDS.items():
        for one in report.advised(advice):
            say(f"{word}: {one.slice_key}. {one.suggestions[0].sentence}")
            if one.command is not None:
                say(f"    to do so: {one.command}")
            _say_offers(one)
    for key, misled in report.misleading:
        say(f"consistent but wrong: {key}. {misled.sentence}")
        say(f"    {misled.advice}")
    print_table(
        f"Slices (calibration {report.calibration}, active: {report.active or 'none'})",
        ("slice", "labels", "right", "acts alone", "from", "certificate, or what is missing"),
        [_slice_row(one) for one in report.slices],
    )
    say(SLICE_LABELS)
    print_table(
        "Acted alone by month",
        ("month", "decisions", "acted alone", "remark"),
        [
            (
                f"{month.first:%Y-%m}",
                month.decisions,
                _percent(month.automation),
                "under 50 %" if month.low else "",
            )
            for month in report.routes.months
        ],
    )
    for one in report.slices:
        _show_slice(one)
    _say_each("", STANDING_NOTES)


def _say_offers(one: SliceReport) -> None:
    """Name the commands that make a proposed policy of a suggestion."""
    for offer in one.offers:
        if offer.change is not None:
            named = shlex.join((one.slice_key, offer.suggestion))
            key = offer.change.dotted(one.slice_key)
            say(f"    to propose {key}: sureline policy accept {named} --by NAME")


def _say_each(before: str, texts: Sequence[str]) -> None:
    for text in texts:
        say(f"{before}{text}")


def _slice_row(one: SliceReport) -> tuple[Any, ...]:
    return (
        one.slice_key,
        one.right.whole,
        _percent(one.right.value),
        "nothing" if one.held is None else _percent(one.held.coverage),
        "" if one.held is None else threshold_text(one.held.threshold),
        one.sentence,
    )


def _show_slice(one: SliceReport) -> None:
    say(f"== {one.slice_key}: {WORDS[one.advice]}")
    for suggestion in one.suggestions:
        blocked = "" if suggestion.blocked is None else f" Not suggested yet: {suggestion.blocked}"
        say(f"- {suggestion.sentence}{blocked}")
    if one.before.table.n:
        _show_quality(one.before, one.after)
    recent, before = one.scores.recent, one.scores.reference
    say(f"scores since {one.scores.since}: {_scores(recent)}; before: {_scores(before)}")
    labels = ", ".join(f"{name} {count}" for name, count in one.labels.items())
    say(f"labels: {labels or 'none'}")
    say(one.precision.sentence)
    say(one.reviewed_sentence)
    show_opinions(one.opinions)
    _show_guard(one.watch)
    for lever in one.levers:
        towards = "" if lever.towards is None else f" (the figures speak for {lever.towards})"
        say(f"lever {lever.name}, now {_places(lever.now) or 'none'}{towards}")
        say(f"    up: {lever.up}")
        say(f"    down: {lever.down}")
        say(f"    cost: {lever.cost}")
    _show_mistakes(one.mistakes)
    _show_clusters(one.clusters)


def _show_quality(before: Quality, after: Quality | None) -> None:
    found = [("before", before), *([] if after is None else [("calibrated", after)])]
    print_table(
        "Does the score mean what it says?",
        ("", "score", "labels", "says", "right", "95 % interval", "verdict"),
        [row for name, quality in found for row in _reliability(name, quality)],
    )
    print_table(
        "How good are the scores? (the smaller, the better)",
        ("", "labels", "Brier score", "95 % interval", "ECE", "smooth ECE"),
        [_quality(name, quality) for name, quality in found],
    )


def _reliability(name: str, quality: Quality) -> Iterator[tuple[Any, ...]]:
    for bucket in quality.table.buckets:
        if bucket.interval is not None:
            low, high = bucket.interval
            yield (
                name,
                f"{bucket.low:.1f}-{bucket.high:.1f}",
                bucket.n,
                _places(bucket.predicted),
                _places(bucket.actual),
                f"{low:.2f}-{high:.2f}",
                bucket.verdict.replace("_", " "),
            )


def _quality(name: str, quality: Quality) -> tuple[Any, ...]:
    brier = quality.brier
    return (
        name,
        quality.table.n,
        _places(None if brier is None else brier.value),
        "" if brier is None else f"{brier.interval[0]:.3f}-{brier.interval[1]:.3f}",
        _places(quality.table.ece),
        _places(quality.smooth_ece),
    )


def _show_guard(watch: SliceWatch | None) -> None:
    if watch is None:
        return
    guard, seen = watch.guard, watch.detection
    state = "below target" if guard.tripped else "nothing against the target"
    weeks = "" if seen.weeks is None else f", about {seen.weeks:.1f} weeks"
    say(
        f"guard: {guard.errors} of {guard.labels} audited outputs were wrong ({state}; evidence "
        f"{guard.peak:.2f}, trips at {guard.limit:.2f}); a fall to {seen.precision:.0%} would take "
        f"{seen.labels or 'too many'} audited labels to notice{weeks}"
    )


def _show_mistakes(found: Mistakes) -> None:
    if found.band is None:
        say("scored high, and wrong: there are no scores yet")
        return
    title = (
        f"scored high, and wrong: {found.wrong} of {found.labels} labels at or above "
        f"{threshold_text(found.band.threshold)} ({found.band.basis})"
    )
    if not found.shown:
        say(title)
        return
    print_table(
        title,
        ("decision", "score", "route", "label"),
        [(one.id, f"{one.score:.3f}", one.route, one.source) for one in found.shown[:LISTED]],
    )
    more = len(found.shown) - LISTED
    if more > 0:
        say(f"and {more} more in the JSON (`sureline report --json`)")
    say("drafts of deductions, to edit and put into a deductions file:")
    for draft in dict.fromkeys(one.draft for one in found.shown[:LISTED]):
        for line in draft.splitlines():
            say(f"    {line}")


def _show_clusters(found: RejectedClusters) -> None:
    say(f"worst cluster of rejected tasks: {found.sentence}")
    if found.worst is not None:
        say(f"    examples: {', '.join(found.worst.examples)}")
        say(f"    proposed split: {found.worst.split}")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _scores(one: Histogram) -> str:
    return f"{one.n}" if one.median is None else f"{one.n}, median {_places(one.median)}"


def _places(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
