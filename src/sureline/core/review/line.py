"""Make the line by which an item is found in the list."""

from __future__ import annotations

from collections.abc import Iterable

from sureline.core.values.review import Review, ReviewKind
from sureline.core.values.review_line import LONGEST_TASK, ReviewLine


def line_of(item: Review, task: str, reasons: Iterable[str]) -> ReviewLine:
    """Return an item's line, spaces drawn together.

    Who audits it, or has to answer before seeing the output, must not learn from the list what
    the gate thought: then there are no reasons.
    """
    is_blind = item.kind is ReviewKind.AUDIT or item.rules.answer_first
    begun = " ".join(task[: 4 * LONGEST_TASK].split())[:LONGEST_TASK]
    return ReviewLine(
        task=begun.encode("utf-8", "replace").decode(),
        reasons=() if is_blind else tuple(dict.fromkeys(reasons)),
    )
