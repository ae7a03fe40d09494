"""What an answer that is given outside the queue does there, and whether it is a label (R2, R12).

Whoever answers past the desk is bound by what binds them at it: no claim, no second pair of eyes
and no moment to take a verdict back is walked around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sureline.core.review.transitions import DECIDING, close, decide
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.person import same_person
from sureline.core.values.review import Review, ReviewKind, ReviewState, Verdict
from sureline.errors import Conflict


def is_for_the_desk(item: Review | None, outcome: Outcome) -> bool:
    """Tell whether an answer is one that the item's reviewers give."""
    asked = item is not None and item.kind is ReviewKind.REVIEW
    return asked and outcome.source is OutcomeSource.REVIEW and outcome.action in DECIDING


def heard(item: Review, outcome: Outcome, *, at_once: bool) -> Review:
    """Return the item as a reviewer's answer from elsewhere leaves it.

    About an open item it is the verdict of the desk on the content of now. A yes is handed out
    after the time in which others can object, or `at_once` where nobody acts on it; a no, which
    releases nothing, as it comes. It also ends a verdict that was not handed out yet; what is over
    stays as it is.
    Raises Conflict and Forbidden where the desk would: somebody else has claimed or decided it, it
    is to be answered first, several must approve, it is their own proposal.
    """
    objects = outcome.action is not Action.APPROVE
    if item.state is ReviewState.DECIDED and not item.released and objects:
        return close(item, outcome)
    if item.released:
        return item
    if item.state.is_open and not objects and item.rules.approvals > 1:
        if at_once:
            return item
        raise Conflict(
            f"{item.rules.approvals} people must approve this, each in the queue: "
            f"{_at_the_desk(item)}"
        )
    if item.state.is_open and item.rules.answer_first and outcome.anchored:
        raise Conflict(f"say what is right first, in the queue: {_at_the_desk(item)}")
    verdict = _verdict(item, outcome)
    done = decide(item, replace(verdict, action=Action.REJECT) if objects else verdict)
    return replace(done, given=(*done.given[:-1], verdict), released=at_once or objects)


def as_label(
    item: Review | None, outcome: Outcome, held: Outcome | None, *, at_once: bool
) -> Outcome:
    """Return an answer as it counts: a yes that overrules nobody, or one that is no label.

    `held` gave the decision its label until now, None if nothing did. A yes does not take the
    place of somebody else's no of the same strength, and a reviewer's yes to what ended without one
    comes too late: it is kept as said. Both ways round the doubt stays; an incident's record is
    stronger.
    """
    if outcome.correct is not True or outcome.source is OutcomeSource.INCIDENT:
        return outcome
    overruled = (
        held is not None
        and held.correct is False
        and held.source.rank == outcome.source.rank
        and not same_person(held.by, outcome.by)
    )
    late = not at_once and is_for_the_desk(item, outcome) and item is not None and _ended(item)
    return replace(outcome, correct=None) if overruled or late else outcome


_LIFTING = frozenset({OutcomeSource.REVIEW, OutcomeSource.AUDIT})
"""Whose yes counts where nothing was queued; an imported label's does not."""


def last_word(outcomes: Sequence[Outcome], item: Review | None = None) -> Outcome | None:
    """Return the newest answer that says whether an output may be used, None without one.

    Any objection counts. Of approvals of what people were asked about, only those by which its
    `item` of the queue ended do: a yes that comes besides, later or stronger, releases nothing.
    """
    said = [
        one
        for one in outcomes
        if one.action is not Action.SKIP
        and (one.action is not Action.APPROVE or _releases(one, item))
    ]
    return said[-1] if said else None


def _releases(outcome: Outcome, item: Review | None) -> bool:
    if item is None or item.kind is not ReviewKind.REVIEW:
        return outcome.source in _LIFTING
    named = (outcome.by, outcome.action, outcome.recorded_at)
    return any((one.by, one.action, one.at) == named for one in item.given)


def _ended(item: Review) -> bool:
    """Tell whether an item is over and nobody approved it."""
    if item.verdict is not None:
        return item.released and item.verdict.action is Action.REJECT
    return not item.state.is_open


def _at_the_desk(item: Review) -> str:
    return f"POST /v1/reviews/{item.id}/decide, `sureline review` or its page"


def _verdict(item: Review, outcome: Outcome) -> Verdict:
    return Verdict(
        action=outcome.action,
        by=outcome.by,
        digest=item.digest,
        at=outcome.recorded_at,
        edited_fields=outcome.edited_fields,
        anchored=outcome.anchored,
        correct=outcome.correct,
        recorded=True,
    )
