"""Take verdicts that people give elsewhere: once each, and by all rules of the desk (R9, R12)."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.inbound import Arrival, InboundStore, Standing, StoredReply
from sureline.application.ports.keys import Keys
from sureline.application.review.desk import ReviewDesk, Said
from sureline.application.review.inbound_past import is_done
from sureline.application.review.inbound_people import Speaker, speaker_of
from sureline.core.review.signature import Signed, is_signed, signing_key
from sureline.core.values.inbound import InboundSource, InboundVerdict
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    NotSigned,
    PolicyError,
    SurelineError,
)

logger = logging.getLogger(__name__)

KEPT = timedelta(days=3)
"""A delivery that comes again within this time is answered from what is stored."""
LEASE = timedelta(minutes=1)
"""So long a delivery may be in work; after that who worked on it is taken for dead."""

BROKEN = 500
"""From this status on it is no refusal: nothing could be done now."""
NOBODYS_KEY = bytes(32)
NOT_SIGNED = (
    "expected a delivery of a known source, signed as Standard Webhooks says, not more than five "
    "minutes ago"
)

Written = Callable[[Review | SurelineError], tuple[int, bytes]]
"""Writes the answer to what was done or refused: a status and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A delivery, who speaks in it, what they say, and how far it is."""

    speaker: Speaker
    said: InboundVerdict
    arrival: Arrival
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """What programs hand on from people, in one workspace.

    `secret_of` reads a variable that the policy names; `secret` keys the digests of what came in.
    """

    desk: ReviewDesk
    deliveries: InboundStore
    policies: PolicyBook
    keys: Keys
    secret_of: Callable[[str], str | None]
    secret: bytes
    clock: Clock
    workspace: str

    async def admit(self, name: str, signed: Signed) -> InboundSource:
        """Return the source that has signed these bytes. Raises NotSigned without saying why.

        It takes as long for a source that is unknown as for one that is not.
        """
        source = await self._source(name)
        key = None if source is None else self._key(source)
        fits = is_signed(signed, key or NOBODYS_KEY, self.clock.now())
        if source is None or key is None or not fits:
            raise NotSigned(NOT_SIGNED)
        return source

    async def take(
        self, source: InboundSource, delivery_id: str, said: InboundVerdict, content: bytes
    ) -> Taken:
        """Take a delivery to work on, or say how far it is; `content` is what is told apart by.

        Raises Forbidden for somebody who may say nothing, and Conflict where the id came before
        with other content.
        """
        keys = await self.keys.all(self.workspace)
        speaker = speaker_of(source, said.reviewer, keys)
        digest = hmac.digest(self.secret, b"inbound:" + content, "sha256")
        arrival = Arrival(
            workspace=self.workspace, source=source.name, id=delivery_id, digest=digest
        )
        now = self.clock.now()
        standing = await self.deliveries.take(arrival, now=now, until=now + LEASE)
        return Taken(speaker=speaker, said=said, arrival=arrival, standing=standing)

    async def act(self, taken: Taken, write: Written) -> StoredReply:
        """Do what was said, and keep the answer for whoever asks again.

        What is wrong with an edit is not kept: it may quote the edit.
        Raises InvalidInput, StoreError, PolicyError and whatever else is no refusal; then nothing
        is kept and the delivery may come again.
        """
        try:
            done: Review | SurelineError = await self._done(taken)
        except SurelineError as refusal:
            if refusal.status >= BROKEN or isinstance(refusal, PolicyError | InvalidInput):
                await self.deliveries.give_up(taken.arrival)
                raise
            done = refusal
        status, body = write(done)
        reply = StoredReply(status=status, body=body, acted=isinstance(done, Review))
        await self.deliveries.finish(taken.arrival, reply)
        return reply

    async def forget(self) -> int:
        """Forget deliveries that nobody sends again."""
        return await self.deliveries.prune(self.workspace, self.clock.now() - KEPT)

    async def _done(self, taken: Taken) -> Review:
        said, by, standing = taken.said, taken.speaker.identity, taken.standing
        item = await self.desk.store.get(self.workspace, said.review_id)
        if item is None:
            raise NotFound("there is no such review")
        taken.speaker.check(item)
        since = standing.since
        if standing.begun and await is_done(self.desk.ledger, item, said, by=by, since=since):
            return item
        if said.action in {Action.SKIP, Action.ESCALATE}:
            return await self._step_aside(item, said, by)
        return await self._decide(said, by)

    async def _decide(self, said: InboundVerdict, by: str) -> Review:
        try:
            return await self.desk.decide(
                said.review_id,
                Said(
                    action=said.action,
                    by=by,
                    digest=said.digest,
                    edited=said.output,
                    reason=said.reason,
                    comment=said.comment,
                ),
            )
        except InvalidInput as fault:  # by the name that the field has in a delivery
            message = fault.message.removeprefix("edited: ")
            raise InvalidInput(message, field="output") from None

    async def _step_aside(self, item: Review, said: InboundVerdict, by: str) -> Review:
        """Leave an item to others, or to somebody further up."""
        if item.digest != said.digest:
            raise Conflict("the content has changed since it was shown; look at it again")
        comment = ": ".join(one for one in (said.reason, said.comment) if one) or None
        leave = self.desk.skip if said.action is Action.SKIP else self.desk.escalate
        return await leave(item.id, by, comment)

    async def _source(self, name: str) -> InboundSource | None:
        try:
            policy = await self.policies.latest()
        except PolicyError:  # without a policy nobody may say anything
            return None
        return next((one for one in policy.inbound if one.name == name), None)

    def _key(self, source: InboundSource) -> bytes | None:
        secret = self.secret_of(source.secret_variable)
        key = None if secret is None else signing_key(secret)
        if key is None:
            logger.warning(
                "inbound %s: %s holds no signing secret", source.name, source.secret_variable
            )
        return key
