"""Make the line by which an item is found in the list."""

from __future__ import annotations

from collections.abc import Iterable

from sureline.core.values.finding import Finding
from sureline.core.values.review import Review, ReviewKind
from sureline.core.values.review_line import LONGEST_FOUND, LONGEST_TASK, ReviewLine


def line_of(
    item: Review,
    task: str,
    reasons: Iterable[str],
    *,
    findings: Iterable[Finding] = (),
    confidence: float | None = None,
) -> ReviewLine:
    """Return an item's line, spaces drawn together.

    Who audits it, or has to answer before seeing the output, must not learn from the list what
    the gate thought: then there are no reasons, no finding and no confidence.
    """
    begun = _short(task, LONGEST_TASK)
    if item.kind is ReviewKind.AUDIT or item.rules.answer_first:
        return ReviewLine(task=begun)
    return ReviewLine(
        task=begun,
        reasons=tuple(dict.fromkeys(reasons)),
        found=_worst(findings),
        confidence=confidence,
    )


def _worst(findings: Iterable[Finding]) -> str:
    """Return the first finding that is fatal, else that costs something, else the first."""
    ordered = sorted(findings, key=lambda one: (not one.fatal, not one.penalty))
    if not ordered:
        return ""
    worst = ordered[0]
    message = worst.message.rstrip(". ")
    return _short(message if worst.field is None else f"{worst.field}: {message}", LONGEST_FOUND)


def _short(text: str, most: int) -> str:
    short = " ".join(text[: 4 * most].split())[:most]
    return short.encode("utf-8", "replace").decode()
