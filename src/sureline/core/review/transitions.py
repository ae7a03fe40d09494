"""What can be done with an item of the queue, and when (R2-R5, R12).

Every function takes an item and returns it changed, or raises and changes nothing. A store runs
each within one transaction, so that of two reviewers one wins and the other is told.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewState, Verdict
from sureline.errors import Conflict, Forbidden, InvalidInput

DECIDING = frozenset({Action.APPROVE, Action.EDIT, Action.REJECT})
"""Actions that end a review."""


def claim(item: Review, by: str, now: datetime) -> Review:
    """Take an item, or take one's own again. Raises Conflict saying who has it, Forbidden."""
    _check_open(item, now)
    _check_free(item, by, now)
    _check_other_than_author(item, by)
    return replace(
        item, state=ReviewState.CLAIMED, claimed_by=by, lease_until=now + item.rules.lease
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
    if verdict.action is Action.REJECT:
        return _decided(item, verdict)
    if verdict.action is Action.EDIT:
        item = _new_version(item, edited_digest)
    return _approved(item, verdict)


def _new_version(item: Review, digest: str | None) -> Review:
    if digest is None:
        raise InvalidInput("an edit needs the output as it shall be", field="edited")
    if item.kind is ReviewKind.AUDIT:
        raise InvalidInput("an audited output has acted; it can be called right or wrong")
    return replace(item, digest=digest, version=item.version + 1, approvals=())


def _approved(item: Review, verdict: Verdict) -> Review:
    """Count an approval; where others must approve too, the item waits for them."""
    if verdict.by in item.approvals:
        raise Conflict("you have approved this already; it needs somebody else now")
    item = replace(item, approvals=(*item.approvals, verdict.by))
    if len(item.approvals) < item.rules.approvals:
        return replace(_unclaimed(item), verdict=verdict)
    return _decided(item, _whole(item, verdict))


def _whole(item: Review, verdict: Verdict) -> Verdict:
    """Return the verdict that stands: an edit stays one when somebody else approves it."""
    before = item.verdict
    if before is None or before.action is not Action.EDIT or verdict.action is Action.EDIT:
        return verdict
    return replace(
        verdict,
        action=Action.EDIT,
        edited=before.edited,
        edited_fields=before.edited_fields,
        correct=before.correct,
    )


def undo(item: Review, by: str, now: datetime) -> Review:
    """Take one's verdict back before it is handed out. Raises Conflict when it is too late."""
    verdict = item.verdict
    if item.state is not ReviewState.DECIDED or verdict is None:
        raise Conflict("there is no verdict to take back")
    if verdict.by != by:
        raise Forbidden(f"this is the verdict of {verdict.by}")
    if verdict.action is Action.EDIT:
        raise Conflict("an edit cannot be taken back; reject it or edit it again")
    if item.released or item.release_at is None or now >= item.release_at:
        raise Conflict("the verdict has been handed out and stands")
    return replace(
        item,
        state=ReviewState.CLAIMED,
        claimed_by=by,
        lease_until=now + item.rules.lease,
        approvals=tuple(one for one in item.approvals if one != by),
        verdict=None,
        release_at=None,
    )


def settle(item: Review, now: datetime) -> Review:
    """Return the item as time alone has made it.

    A claim whose lease ran out is free again; an item past its deadline goes a step up, and after
    the last step it expires; a verdict that can no longer be taken back is released.
    """
    if item.state is ReviewState.DECIDED:
        due = item.release_at is not None and now >= item.release_at
        return replace(item, released=True) if due and not item.released else item
    if not item.state.is_open:
        return item
    if now >= item.deadline:
        if item.level < item.rules.escalations:
            return _one_up(_unclaimed(item), now)
        return replace(_unclaimed(item), state=ReviewState.EXPIRED, released=True)
    if item.state is ReviewState.CLAIMED and not item.is_held(now):
        return _unclaimed(item)
    return item


def supersede(item: Review, *, forget: bool = False) -> Review:
    """Close an item that has lost its object; a verdict that was given stays.

    With `forget` what its reviewers wrote is deleted.
    """
    if forget and item.verdict is not None:
        bare = replace(item.verdict, edited=None, comment=None)
        item = replace(item, verdict=bare)
    if not item.state.is_open:
        return item
    return replace(_unclaimed(item), state=ReviewState.SUPERSEDED, released=True)


def close(item: Review, outcome: Outcome) -> Review:
    """Close an item about which somebody decided elsewhere, as far as that answer settles it."""
    answers = OutcomeSource.AUDIT if item.kind is ReviewKind.AUDIT else OutcomeSource.REVIEW
    if not item.state.is_open or outcome.source is not answers:
        return item
    if len({*item.approvals, outcome.by}) < item.rules.approvals and _is_approval(outcome):
        return replace(item, approvals=(*item.approvals, outcome.by))
    verdict = Verdict(
        action=outcome.action,
        by=outcome.by,
        digest=item.digest,
        at=outcome.recorded_at,
        edited_fields=outcome.edited_fields,
        anchored=outcome.anchored,
        correct=outcome.correct,
    )
    return replace(_decided(item, verdict), released=True)


def _is_approval(outcome: Outcome) -> bool:
    return outcome.action is not Action.REJECT


def _decided(item: Review, verdict: Verdict) -> Review:
    return replace(
        item,
        state=ReviewState.DECIDED,
        claimed_by=None,
        lease_until=None,
        verdict=verdict,
        release_at=verdict.at + item.rules.undo,
    )


def _unclaimed(item: Review) -> Review:
    state = ReviewState.ESCALATED if item.level else ReviewState.PENDING
    return replace(item, state=state, claimed_by=None, lease_until=None)


def _one_up(item: Review, now: datetime) -> Review:
    return replace(
        item,
        state=ReviewState.ESCALATED,
        level=item.level + 1,
        deadline=now + item.rules.deadline,
    )


def _check_open(item: Review, now: datetime) -> None:
    """Refuse what is over, saying how it ended."""
    if item.state is ReviewState.DECIDED:
        verdict = item.verdict
        said = "" if verdict is None else f": {verdict.action} by {verdict.by}"
        raise Conflict(f"this item has been decided{said}")
    if not item.state.is_open:
        raise Conflict(f"this item is {item.state}; nothing can be decided about it any more")
    if now >= item.deadline and item.level >= item.rules.escalations:
        raise Conflict("this item has expired; nothing can be decided about it any more")


def _check_free(item: Review, by: str, now: datetime) -> None:
    if item.is_held(now) and item.claimed_by != by:
        raise Conflict(f"this item is claimed by {item.claimed_by} until {item.lease_until}")


def _check_other_than_author(item: Review, by: str) -> None:
    """Nobody decides about their own proposal, whatever it is about (R12)."""
    if item.submitted_by is not None and item.submitted_by == by:
        raise Forbidden("nobody decides about their own proposal; somebody else must")
