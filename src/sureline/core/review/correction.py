"""When what is known of an output that is out in the world turns out to be otherwise (R14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sureline.core.values.decision import Route
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.review import Review, ReviewState


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One labelled answer about a decision; `mark` is its place in the ledger."""

    mark: int
    id: str
    action: Action
    correct: bool
    source: OutcomeSource
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """An answer that turned what was held of a released output: `correct` is what it says now."""

    answer: Answered
    correct: bool


def released_from(route: str, item: Review | None, answers: Sequence[Answered]) -> int | None:
    """Return how many of the answers led to the release, None if the output was never released.

    What acted alone was released before anybody answered. What went to a person was if its own
    `item` of the queue ended so; then the answers that the item holds are those that released it.
    """
    if route == Route.AUTO_APPROVE:
        return 0
    if item is None or item.state is not ReviewState.DECIDED or not item.released:
        return None
    if item.verdict is None or item.verdict.action is Action.REJECT:
        return None
    given = {(one.by, one.action, one.at) for one in item.given}
    places = [
        place for place, one in enumerate(answers, start=1) if (one.by, one.action, one.at) in given
    ]
    return max(places, default=0)


def corrections(answers: Sequence[Answered], start: int) -> tuple[Correction, ...]:
    """Return what turned since the release, oldest first: wrong, and right again if so.

    A released output is held to be right until somebody says otherwise. As with labels, the
    latest of the strongest source holds; saying the same again turns nothing.
    """
    found: list[Correction] = []
    held, strongest = True, 0
    for one in answers[start:]:
        if one.source.rank < strongest:
            continue
        strongest = one.source.rank
        if one.correct is not held:
            held = one.correct
            found.append(Correction(answer=one, correct=held))
    return tuple(found)
