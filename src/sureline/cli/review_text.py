"""An item of the queue as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sureline.application.review.item import ReviewItem


def item_lines(item: ReviewItem) -> Iterator[str]:
    """Write an item as text: why it is here, what it was made from, and the output."""
    review = item.review
    yield f"{review.id} ({review.slice_key}), version {review.version}: {review.state}"
    for reason in item.reasons:
        yield f"  {reason['message']}"
    yield "task:"
    yield from _indented(item.task)
    for one in item.source:
        yield f"source {one['ref']}{'' if one['trusted'] else ' (claimed)'}:"
        yield from _indented(one["text"])
    if item.is_withheld:
        yield "the output is shown once you have said what it should be (sureline review answer)"
        return
    yield "output:"
    output = item.output
    shown = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)
    yield from _indented(shown)
    yield from _found(item)
    for name, claim in item.claims.items():
        yield f"claimed {name}: {json.dumps(claim, ensure_ascii=False)}"
    yield f"digest: {review.digest}"


def _found(item: ReviewItem) -> Iterator[str]:
    """Write what the checks found; of an edit also its score, and which figures are not of it."""
    for finding in item.decision.get("feedback", ()):
        yield f"found: {finding['message']}"
    if not item.is_rescored:
        return
    composite = item.decision["composite"]
    yield f"score of the edit: {'none' if composite is None else format(composite, '.3f')}"
    signals = item.decision["signals"].items()
    if before := [name for name, one in signals if one["before_edit"]]:
        yield f"of the output before the edit: the reasons above, {', '.join(before)}"
    else:
        yield "of the output before the edit: the reasons above"


def _indented(text: str) -> Iterator[str]:
    # Other ends of lines than this one are shown as characters: a text could hide behind them.
    return (f"  {line}" for line in text.split("\n"))
