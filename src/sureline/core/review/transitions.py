"""What can be done with an item of the queue, and when (R2-R5, R12).

Every function takes an item and returns it changed, or raises and changes nothing. A store runs
each within one transaction, so that of two reviewers one wins and the other is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from sureline.core.review.hours import deadline_at
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.person import same_person
from sureline.core.values.review import Review, ReviewKind, ReviewState, Verdict
from sureline.errors import Conflict, Forbidden, InvalidInput

_SOURCES = {
    ReviewKind.REVIEW: OutcomeSource.REVIEW,
    ReviewKind.AUDIT: OutcomeSource.AUDIT,
    # What was called back was chosen: like an incident's, its label is no random sample (G23).
    ReviewKind.RECALL: OutcomeSource.INCIDENT,
}

DECIDING = frozenset({Action.APPROVE, Action.EDIT, Action.REJECT})
"""Actions that end a review."""


def source_of(kind: ReviewKind) -> OutcomeSource:
    """Return as what a verdict about such an item is recorded."""
    return _SOURCES[kind]


def claim(item: Review, by: str, now: datetime, *, most: timedelta | None = None) -> Review:
    """Take an item, or take one's own again. Raises Conflict saying who has it, Forbidden.

    The claim holds for the item's lease, or for `most` where that is less; one's own that holds
    for longer is not shortened.
    """
    _check_open(item, now)
    _check_free(item, by, now)
    _check_other_than_author(item, by)
    again = item.is_held(now) and item.claimed_at is not None
    until = now + (item.rules.lease if most is None else min(most, item.rules.lease))
    if again and item.lease_until is not None:
        until = max(until, item.lease_until)
    return replace(
        item,
        state=ReviewState.CLAIMED,
        claimed_by=by,
        claimed_at=item.claimed_at if again else now,
        lease_until=until,
    )


def heartbeat(item: Review, by: str, now: datetime) -> Review:
    """Hold on to a claim. Raises Conflict if it was lost."""
    _check_open(item, now)
    if item.claimed_by != by or item.state is not ReviewState.CLAIMED:
        raise Conflict(f"this item is not claimed by {by}; claim it again")
    return replace(item, lease_until=now + item.rules.lease)


def give_back(item: Review, by: str, now: datetime) -> Review:
    """Let go of a claim. Raises Conflict if somebody else has it."""
    _check_open(item, now)
    _check_free(item, by, now)
    return _unclaimed(item)


def skip(item: Review, by: str, now: datetime) -> Review:
    """Let go of an item and not be offered it again; it says nothing about the output."""
    given = give_back(item, by, now)
    return replace(given, skipped_by=tuple(sorted({*item.skipped_by, by})))


def escalate(item: Review, by: str, now: datetime) -> Review:
    """Hand an item a step up, with a new deadline."""
    return _one_up(give_back(item, by, now), now)


def decide(item: Review, verdict: Verdict, *, edited_digest: str | None = None) -> Review:
    """Decide about the content that was shown.

    An item that nobody holds need not be claimed first. An edit makes a new version with
    `edited_digest`, which its editor approves by making it. Where several must approve, the item
    waits for the others. Raises Conflict where it was decided, expired, is held by somebody else
    or has changed since it was shown; Forbidden for one's own proposal.
    """
    by, now = verdict.by, verdict.at
    if verdict.action not in DECIDING:
        raise InvalidInput(f"expected approve, edit or reject, got {verdict.action}")
    _check_open(item, now)
    _check_free(item, by, now)
    _check_other_than_author(item, by)
    if verdict.digest != item.digest:
        raise Conflict(
            f"the content has changed since it was shown (it is version {item.version} now); look "
            "at it again"
        )
    if verdict.action is Action.EDIT:
        item = _new_version(item, edited_digest)
    elif verdict.action is Action.APPROVE and _is_among(by, item.approvals):
        raise Conflict("you have approved this already; it needs somebody else now")
    item = replace(item, given=(*item.given, verdict))
    if verdict.action is not Action.REJECT and len(item.approvals) < item.rules.approvals:
        return _unclaimed(item)
    return _decided(item, now)


def _new_version(item: Review, digest: str | None) -> Review:
    if digest is None:
        raise InvalidInput("an edit needs the output as it shall be", field="edited")
    if item.kind.has_acted:
        what = "an audited" if item.kind is ReviewKind.AUDIT else "a recalled"
        raise InvalidInput(f"{what} output has acted; it can be called right or wrong")
    return replace(item, digest=digest, version=item.version + 1)


def undo(item: Review, by: str, now: datetime) -> Review:
    """Take back what one has said before it is handed out.

    The last verdict can be taken back while it is not released; the item is one's own again then,
    for a lease at least, whatever its deadline was: time went by while it was decided.
    Where several must approve, an approval can be taken back until the others have given theirs.
    Raises Conflict when it is too late or nothing was said, Forbidden for another's verdict.
    """
    if item.state is not ReviewState.DECIDED:
        _check_open(item, now)
        return _withdrawn(item, by)
    last = item.given[-1]
    if not same_person(last.by, by):
        raise Forbidden(f"this is the verdict of {last.by}")
    if item.released or item.release_at is None or now >= item.release_at:
        raise Conflict("the verdict has been handed out and stands")
    if last.recorded:
        raise Conflict("this verdict was recorded outside the queue and stays; record a rejection")
    until = now + item.rules.lease
    return replace(
        _without(item, last),
        state=ReviewState.CLAIMED,
        claimed_by=by,
        claimed_at=last.at - timedelta(seconds=last.seconds or 0.0),
        lease_until=until,
        deadline=max(item.deadline, until),
        release_at=None,
    )


def _withdrawn(item: Review, by: str) -> Review:
    """Take an approval back for which others are still awaited."""
    own = [one for one in item.of_this_version if same_person(one.by, by)]
    if not own:
        raise Conflict("there is no verdict of yours to take back")
    if own[-1].action is Action.EDIT and own[-1] is not item.given[-1]:
        raise Conflict("somebody has approved this edit since; reject it or edit it again")
    return _without(item, own[-1])


def _without(item: Review, verdict: Verdict) -> Review:
    """Return the item as if this had not been said; without an edit, the content before it."""
    item = replace(item, given=tuple(one for one in item.given if one is not verdict))
    if verdict.action is not Action.EDIT:
        return item
    return replace(item, digest=verdict.digest, version=item.version + 1)


def settle(item: Review, now: datetime) -> Review:
    """Return the item as time alone has made it.

    A claim whose lease ran out is free again; an item past its deadline goes a step up, where it
    is offered to everybody anew, and after the last step it expires; a verdict that can no longer
    be taken back is released.
    """
    if item.state is ReviewState.DECIDED:
        due = item.release_at is not None and now >= item.release_at
        return replace(item, released=True) if due and not item.released else item
    if not item.state.is_open:
        return item
    if now >= item.deadline:
        if item.level < item.rules.escalations:
            return replace(_one_up(_unclaimed(item), now), skipped_by=())
        return replace(_unclaimed(item), state=ReviewState.EXPIRED, released=True)
    if item.state is ReviewState.CLAIMED and not item.is_held(now):
        return _unclaimed(item)
    return item


def supersede(item: Review, *, forget: bool = False) -> Review:
    """Close an item that has lost its object; a verdict that was given stays.

    With `forget` what its reviewers wrote is deleted.
    """
    if forget:
        bare = tuple(replace(one, edited=None, comment=None) for one in item.given)
        item = replace(item, given=bare)
    if not item.state.is_open:
        return item
    return replace(_unclaimed(item), state=ReviewState.SUPERSEDED, released=True)


def replaced(item: Review, *, slice_key: str, submitted_by: str | None) -> Review:
    """Supersede what waits for a person when its submitter brings another attempt at it.

    Nobody takes another's item away by naming it, and an audit stays: it is about what has acted.
    """
    own = (item.slice_key, item.submitted_by) == (slice_key, submitted_by)
    return supersede(item) if own and item.kind is ReviewKind.REVIEW else item


def close(item: Review, outcome: Outcome) -> Review:
    """Close an item about which somebody answered elsewhere, as far as that settles it.

    An answer of its own kind settles an open item. Of several approvals none can be given
    elsewhere; whoever objects settles it. A verdict that was not handed out yet gives way to an
    objection from whatever side: it must not be released after it.
    """
    objects = outcome.action is not Action.APPROVE
    if item.state is ReviewState.DECIDED:
        settles = not item.released and objects
    else:
        settles = item.state.is_open and outcome.source is source_of(item.kind)
        settles = settles and (objects or item.rules.approvals == 1)
    if not settles:
        return item
    verdict = Verdict(
        action=outcome.action,
        by=outcome.by,
        digest=item.digest,
        at=outcome.recorded_at,
        edited_fields=outcome.edited_fields,
        anchored=outcome.anchored,
        correct=outcome.correct,
    )
    item = replace(item, given=(*item.given, verdict))
    return replace(_decided(item, outcome.recorded_at), released=True)


def _decided(item: Review, now: datetime) -> Review:
    return replace(
        item,
        state=ReviewState.DECIDED,
        claimed_by=None,
        claimed_at=None,
        lease_until=None,
        release_at=now + item.rules.undo,
    )


def _unclaimed(item: Review) -> Review:
    state = ReviewState.ESCALATED if item.level else ReviewState.PENDING
    return replace(item, state=state, claimed_by=None, claimed_at=None, lease_until=None)


def _one_up(item: Review, now: datetime) -> Review:
    return replace(
        item,
        state=ReviewState.ESCALATED,
        level=item.level + 1,
        stepped_at=now,
        deadline=deadline_at(item.rules, item.level + 1, now),
    )


def _check_open(item: Review, now: datetime) -> None:
    """Refuse what is over, saying how it ended."""
    if item.state is ReviewState.DECIDED:
        last = item.given[-1]
        raise Conflict(f"this item has been decided: {last.action} by {last.by}")
    if not item.state.is_open:
        raise Conflict(f"this item is {item.state}; nothing can be decided about it any more")
    if now >= item.deadline and item.level >= item.rules.escalations:
        raise Conflict("this item has expired; nothing can be decided about it any more")


def _check_free(item: Review, by: str, now: datetime) -> None:
    if item.is_held(now) and not same_person(item.claimed_by, by):
        raise Conflict(f"this item is claimed by {item.claimed_by} until {item.lease_until}")


def _check_other_than_author(item: Review, by: str) -> None:
    """Nobody decides about their own proposal, whatever it is about (R12)."""
    if same_person(item.submitted_by, by):
        raise Forbidden("nobody decides about their own proposal; somebody else must")


def _is_among(by: str, people: Iterable[str]) -> bool:
    return any(same_person(one, by) for one in people)
