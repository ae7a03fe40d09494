"""What labels say of second opinions, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sureline.cli.output import Shaded, print_table, say
from sureline.core.learning.opinion_facts import Accuracy, OpinionFacts, OpinionVerdict

STYLES = {
    OpinionVerdict.MISLEADS: "bold red",
    OpinionVerdict.ADDS_NOTHING: "yellow",
    OpinionVerdict.TOO_FEW: "",
    OpinionVerdict.TELLS: "green",
}


def show_opinions(found: Sequence[OpinionFacts]) -> None:
    """Write how often outputs were right that each opinion agreed with, or did not."""
    if not found:
        return
    print_table(
        "Do second opinions tell right from wrong? (95 % intervals)",
        ("signal", "labels", "right", "where it agreed", "where it did not", "AUROC", "verdict"),
        [_row(one) for one in found],
    )
    for one in found:
        if one.advice is not None:
            say(one.advice)


def _row(one: OpinionFacts) -> tuple[Any, ...]:
    auroc = one.auroc
    return (
        one.signal,
        one.every.labels,
        "" if one.every.right is None else f"{100 * one.every.right:.1f} %",
        _accuracy(one.agreed),
        _accuracy(one.against),
        "" if auroc is None else f"{auroc.auroc:.3f} ({auroc.low:.2f}-{auroc.high:.2f})",
        Shaded(one.verdict.replace("_", " "), STYLES[one.verdict]),
    )


def _accuracy(of: Accuracy) -> str:
    if of.right is None:
        return "none"
    return f"{100 * of.right:.1f} % ({100 * of.low:.0f}-{100 * of.high:.0f}) of {of.labels}"
