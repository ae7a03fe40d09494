"""Which answers count as labels, and as which (G23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Action, Outcome
from sureline.core.values.stratum import LabelStratum


def label_of(
    action: Action, edited_fields: Sequence[str], cosmetic_fields: Sequence[str]
) -> bool | None:
    """Return True for correct, False for wrong, None for no label.

    An edit means wrong, unless it names its fields and all of them are cosmetic. Skipping,
    escalating and expiry say nothing about the output.
    """
    if action is Action.APPROVE:
        return True
    if action is Action.REJECT:
        return False
    if action is Action.EDIT:
        return bool(edited_fields) and set(edited_fields) <= set(cosmetic_fields)
    return None


def effective(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the outcome that gives a decision its label, or None where none does.

    `outcomes` are one decision's, oldest first. The latest of the strongest source holds; an
    outcome that is no label never does, nor does silence: "unreviewed" is not a label.
    """
    found = None
    for one in outcomes:
        if one.correct is not None and (found is None or one.source.rank >= found.source.rank):
            found = one
    return found


def without(rows: Sequence[LabelCount], excluded: Sequence[LabelCount]) -> list[LabelCount]:
    """Return counted labels without those of people who were shown not to look (R7).

    All of a person's labels go, right and wrong: to keep only the rejections of somebody who
    approves unread would make a slice look worse than it is.
    """
    left = Counter({_kind(row): row.count for row in rows})
    left.subtract({_kind(row): row.count for row in excluded})
    return [replace(row, count=left[_kind(row)]) for row in rows if left[_kind(row)] > 0]


def _kind(row: LabelCount) -> tuple[int, LabelStratum, bool]:
    return row.score_bin, row.stratum, row.correct
