"""The desk at which people review: take an item, look at it, decide (R1-R6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sureline.application.current import Currents
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.planted import PlantedStore
from sureline.application.ports.reviews import Changed, QueueCount, ReviewStore, Step, Wanted
from sureline.application.review.answer_first import check_anchoring, must_answer, withheld
from sureline.application.review.claiming import claiming
from sureline.application.review.item import ReviewItem, read_item
from sureline.application.review.offers import Offers
from sureline.application.review.recheck import Recheck, recheck
from sureline.application.review.release import acted, settled
from sureline.application.review.rescored import rescored
from sureline.core.checks.result import Validator
from sureline.core.learning.labels import label_of
from sureline.core.review import transitions
from sureline.core.review.edits import edited_fields
from sureline.core.review.looking import seconds_taken
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.review import Review, Verdict
from sureline.errors import (
    InvalidInput,
    NotFound,
    StoreCorrupt,
    StoreError,
    SurelineError,
    UnknownSlice,
)

logger = logging.getLogger(__name__)

SETTLED_AT_ONCE = 500
"""How many items one sweep looks at before it reads what is due again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says about an item; `digest` names the content that was shown.

    `edited` is the whole output as it shall be and belongs to an edit. `shown_at` is when our own
    page showed it to them, `seconds` how long a browser says that it was in sight.
    """

    action: Action
    by: str
    digest: str
    edited: Any = None
    reason: str | None = None
    comment: str | None = None
    shown_at: datetime | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDesk:
    """Everything that reviewers do in one workspace; `by` is the name that they go by."""

    store: ReviewStore
    ledger: Ledger
    currents: Currents
    clock: Clock
    workspace: str
    validators: Mapping[str, Validator] = field(default_factory=dict)
    planted: PlantedStore | None = None
    offers: Offers | None = None

    async def offered(self, by: str, wanted: Wanted) -> Wanted:
        """Return what of `wanted` a person is offered: what their groups work on."""
        return wanted if self.offers is None else await self.offers.narrowed(by, wanted)

    async def page(self, wanted: Wanted, *, limit: int = 50, offset: int = 0) -> Sequence[Review]:
        """Return items in the order in which they are to be worked on."""
        return await self.store.list(self.workspace, wanted, limit=limit, offset=offset)

    async def counts(self) -> Sequence[QueueCount]:
        """Return how long the queue is, by slice, kind and state."""
        return await self.store.counts(self.workspace)

    async def show(self, review_id: str, viewer: str | None = None) -> ReviewItem:
        """Return an item with all that is needed to decide. Raises NotFound.

        What somebody edited comes with what the checks say of the edit. Where a `viewer` has to
        answer first, the output is withheld.
        """
        item = await self.store.get(self.workspace, review_id)
        if item is None:
            raise NotFound(f"there is no review {review_id!r}")
        stored = await self.ledger.decision(self.workspace, item.decision_id)
        if stored is None and self.planted is not None:
            stored = await self.planted.content(self.workspace, review_id)
        shown = read_item(transitions.settle(item, self.clock.now()), stored)
        if viewer is not None and await must_answer(self.planted, item, viewer):
            return withheld(shown)
        if not shown.is_edited:
            return shown
        policy = await self._policy(item.slice_key)
        return rescored(shown, policy, validators=self.validators, now=self.clock.now())

    async def next(
        self, by: str, wanted: Wanted, *, most: timedelta | None = None
    ) -> Review | None:
        """Claim the item that is most urgent, or return None if there is none for this person.

        The claim holds for `most` where that is less than the item's lease.
        """
        now = self.clock.now()
        await self._settle_some(now, 0)
        wanted, step = await self.offered(by, wanted), claiming(by, now, most=most)
        return await self.store.claim_next(self.workspace, wanted, step, by=by, now=now)

    async def claim(self, review_id: str, by: str) -> Review:
        """Take an item. Raises NotFound, Conflict and Forbidden."""
        return await self._change(review_id, _plain(transitions.claim, by, self.clock.now()))

    async def heartbeat(self, review_id: str, by: str) -> Review:
        """Hold on to a claim. Raises NotFound and Conflict."""
        return await self._change(review_id, _plain(transitions.heartbeat, by, self.clock.now()))

    async def release(self, review_id: str, by: str) -> Review:
        """Let go of a claim. Raises NotFound and Conflict."""
        return await self._change(review_id, _plain(transitions.give_back, by, self.clock.now()))

    async def undo(self, review_id: str, by: str) -> Review:
        """Take one's verdict back before it is handed out. Raises NotFound and Conflict."""
        return await self._change(review_id, _plain(transitions.undo, by, self.clock.now()))

    async def skip(self, review_id: str, by: str, comment: str | None = None) -> Review:
        """Leave an item to somebody else; that is written down and is no label."""
        return await self._step_aside(review_id, Action.SKIP, by, comment)

    async def escalate(self, review_id: str, by: str, comment: str | None = None) -> Review:
        """Hand an item a step up; that is written down and is no label."""
        return await self._step_aside(review_id, Action.ESCALATE, by, comment)

    async def decide(self, review_id: str, said: Said) -> Review:
        """Approve, edit or reject what was shown.

        An edit is checked like an output; one with a fatal fault is refused and changes nothing.
        Raises NotFound, InvalidInput naming what is wrong with an edit, Conflict and Forbidden.
        """
        item = await self.show(review_id)
        answered = not await must_answer(self.planted, item.review, said.by)
        check_anchoring(item.review, answered)
        policy = await self._policy(item.review.slice_key)
        edit = self._checked_edit(item, said, policy)
        verdict = _verdict(item, said, edit, policy, self.clock.now())
        digest = None if edit is None else content_digest(edit.output)

        def step(current: Review) -> Changed:
            timed = replace(verdict, seconds=_seconds(current, said, verdict.at))
            return Changed(item=transitions.decide(current, timed, edited_digest=digest))

        return await self._change(review_id, step)

    async def recheck(self, review_id: str, edited: Any) -> Recheck:
        """Say what the checks make of an edit, before it is decided. Raises NotFound."""
        item = await self.show(review_id)
        policy = await self._policy(item.review.slice_key)
        return recheck(item, edited, policy, validators=self.validators, now=self.clock.now())

    async def settle(self, decision_id: str | None = None) -> int:
        """Do what time has done: end leases, move deadlines, release verdicts; return how many.

        With `decision_id` only that decision's item. It can be called as often as one likes, from
        any number of processes.
        """
        now = self.clock.now()
        if decision_id is not None:
            item = await self.store.get(self.workspace, decision_id)
            if item is None or settled(item, now).item == item:
                return 0
            await self.store.change(self.workspace, decision_id, lambda one: settled(one, now))
            return 1
        done = failed = 0
        while True:
            looked, well = await self._settle_some(now, failed)
            done, failed = done + well, failed + looked - well
            if looked < SETTLED_AT_ONCE:
                return done

    async def _settle_some(self, now: datetime, offset: int) -> tuple[int, int]:
        """Settle what is due, after `offset`; return how many were due, and how many settled.

        One that cannot be settled (its row is damaged, it was erased) holds up no other.
        """
        due = await self.store.due(self.workspace, now, limit=SETTLED_AT_ONCE, offset=offset)
        found = await asyncio.gather(
            *(
                self.store.change(self.workspace, one, lambda item: settled(item, now))
                for one in due
            ),
            return_exceptions=True,
        )
        errors = [one for one in found if isinstance(one, BaseException)]
        for error in errors:
            of_one = isinstance(error, SurelineError) and not isinstance(error, StoreError)
            if not of_one and not isinstance(error, StoreCorrupt):
                raise error
            logger.warning("queue: %s", error)
        return len(due), len(due) - len(errors)

    async def _step_aside(
        self, review_id: str, action: Action, by: str, comment: str | None
    ) -> Review:
        now = self.clock.now()
        move = transitions.skip if action is Action.SKIP else transitions.escalate

        def step(current: Review) -> Changed:
            changed = move(current, by, now)
            return Changed(item=changed, outcomes=(acted(current, action, by, now, comment),))

        return await self._change(review_id, step)

    async def _change(self, review_id: str, step: Step) -> Review:
        """Settle what time has done to the item, then do the step, all in one.

        What time has done stays done where the step is refused.
        """
        now = self.clock.now()
        refusals: list[SurelineError] = []

        def settle_first(current: Review) -> Changed:
            refusals.clear()  # a batch that failed is written anew
            before = settled(current, now)
            try:
                after = step(before.item)
            except SurelineError as refusal:
                refusals.append(refusal)
                return before
            return Changed(item=after.item, outcomes=(*before.outcomes, *after.outcomes))

        changed = await self.store.change(self.workspace, review_id, settle_first)
        if refusals:
            raise refusals[0]
        return changed

    async def _policy(self, slice_key: str) -> SlicePolicy | None:
        """Return the slice's policy, None if it has left the policy since."""
        try:
            return (await self.currents.latest(slice_key)).policy
        except UnknownSlice:
            return None

    def _checked_edit(
        self, item: ReviewItem, said: Said, policy: SlicePolicy | None
    ) -> Recheck | None:
        if said.action is not Action.EDIT:
            if said.edited is not None:
                raise InvalidInput("only an edit has an edited output", field="edited")
            return None
        checked = recheck(
            item, said.edited, policy, validators=self.validators, now=self.clock.now()
        )
        if checked.fatal:
            raise checked.refusal()
        return checked


def _plain(move: Any, by: str, now: datetime) -> Step:
    """Make a step of a transition that writes nothing into the ledger."""
    return lambda item: Changed(item=move(item, by, now))


def _seconds(item: Review, said: Said, now: datetime) -> float | None:
    return seconds_taken(item, said.by, now, shown_at=said.shown_at, in_sight=said.seconds)


def _verdict(
    item: ReviewItem, said: Said, edit: Recheck | None, policy: SlicePolicy | None, now: datetime
) -> Verdict:
    fields = () if edit is None else edited_fields(item.proposed, edit.output)
    if edit is not None and not edited_fields(item.output, edit.output):
        raise InvalidInput("the edit changes nothing; approve it instead", field="edited")
    cosmetic = () if policy is None else policy.cosmetic_fields
    as_proposed = edit is not None and not fields  # an edit of an edit, back to where it was
    return Verdict(
        action=said.action,
        by=said.by,
        digest=said.digest,
        at=now,
        edited=None if edit is None else edit.output,
        edited_fields=fields,
        reason=said.reason,
        comment=said.comment,
        anchored=not item.review.rules.answer_first,  # else the output was in sight
        correct=True if as_proposed else label_of(said.action, fields, cosmetic),
    )
