"""Have a share of what was decided decided again by somebody else, blind (R7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sureline.application.current import Currents
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, StoredDecision
from sureline.application.ports.planted import PlantedStore
from sureline.application.ports.reviews import ReviewStore
from sureline.core.canonical import json_bytes
from sureline.core.gate.sampling import Purpose, draw, is_sampled
from sureline.core.review.alike_id import alike_ids
from sureline.core.review.honeypot import (
    Planted,
    PlantedAnswer,
    PlantedFor,
    disguised,
    planted_review,
)
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review
from sureline.errors import SurelineError

AT_ONCE = 200
"""How many released items are looked at in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLooks:
    """Opens second and third looks in one workspace, and settles disagreements.

    The first verdict was released long ago and stands for its agent; a third who sides with the
    second makes the label what both of them say.
    """

    planted: PlantedStore
    reviews: ReviewStore
    ledger: Ledger
    currents: Currents
    clock: Clock
    secret: bytes
    new_id: Callable[[], str]
    workspace: str

    async def follow(self) -> int:
        """Look at what was released since the last time; return how many looks were opened."""
        opened = 0
        for review_id in await self.planted.follow_ups(self.workspace, AT_ONCE):
            opened += await self._follow(review_id)
            await self.planted.followed(self.workspace, review_id)
        return opened

    async def _follow(self, review_id: str) -> bool:
        item = await self.reviews.get(self.workspace, review_id)
        if item is None:
            return False
        planted = await self.planted.get(self.workspace, review_id)
        if planted is None:
            return await self._second(item)
        answers = await self.planted.answered(self.workspace, review_id)
        if not answers or all(one.correct is planted.first_correct for one in answers):
            return False
        if planted.purpose is PlantedFor.SECOND:
            return await self._third(planted, answers[0])
        await self._settle(planted, answers[-1])
        return False

    async def _second(self, item: Review) -> bool:
        """Open a second look at what was decided first, if it is drawn."""
        verdict = item.verdict
        if verdict is None or verdict.correct is None:
            return False
        share = await self._share(item.slice_key)
        if not is_sampled(self.secret, Purpose.DOUBLE_REVIEW, item.decision_id, share):
            return False
        stored = await self.ledger.decision(self.workspace, item.decision_id)
        people = {one.by for one in item.given}
        if item.submitted_by is not None:
            people.add(item.submitted_by)  # nobody decides about their own, at second sight either
        return await self._open(
            item,
            stored,
            purpose=PlantedFor.SECOND,
            first=(verdict.by, verdict.correct),
            not_by=tuple(sorted(people)),
        )

    async def _third(self, planted: Planted, second: PlantedAnswer) -> bool:
        if planted.first_by is None or planted.first_correct is None:
            return False
        stored = await self.ledger.decision(self.workspace, planted.source_id)
        people = (*planted.review.rules.not_by, planted.first_by, second.by)
        return await self._open(
            planted.review,
            stored,
            purpose=PlantedFor.THIRD,
            first=(planted.first_by, planted.first_correct),
            not_by=tuple(sorted(set(people))),
        )

    async def _settle(self, planted: Planted, third: PlantedAnswer) -> None:
        """Make the label what two of three say; the third's word is kept under the first id."""
        await self.ledger.record_outcome(
            Outcome(
                id=f"{planted.source_id}:third",
                workspace=self.workspace,
                decision_id=planted.source_id,
                action=Action.APPROVE if third.correct else Action.REJECT,
                correct=third.correct,
                source=OutcomeSource.REVIEW,
                by=third.by,
                anchored=True,
                recorded_at=third.answered_at,
            )
        )

    async def _open(
        self,
        like: Review,
        stored: StoredDecision | None,
        *,
        purpose: PlantedFor,
        first: tuple[str, bool],
        not_by: tuple[str, ...],
    ) -> bool:
        if stored is None or stored.answer is None:
            return False  # erased meanwhile: there is nothing left to look at
        new_id, now = await self._id(like), self.clock.now()
        body = disguised(json.loads(stored.body), new_id, now)
        return await self.planted.open(
            Planted(
                review=_looks_like(like, stored, new_id, not_by, now),
                purpose=purpose,
                source_id=stored.id,
                origin=purpose.value,
                trigger=f"{purpose}:{stored.id}",
                body=json_bytes(body),
                first_by=first[0],
                first_correct=first[1],
            )
        )

    async def _id(self, like: Review) -> str:
        """Return a free id like those of the slice: one of another kind would stand out."""

        def pick(what: str, of: int) -> int:
            return int(draw(self.secret, Purpose.DOUBLE_REVIEW, f"id\0{like.id}\0{what}") * of)

        for one in alike_ids(like.id, await self.planted.ids_of(like), pick):
            if not await self.planted.is_taken(self.workspace, one):
                return one
        return self.new_id()

    async def _share(self, slice_key: str) -> float:
        """Return the share of a slice; none where no policy can be used or the slice has left."""
        try:
            return (await self.currents.latest(slice_key)).policy.attention.double_review
        except SurelineError:
            return 0.0


def _looks_like(
    like: Review, stored: StoredDecision, new_id: str, not_by: tuple[str, ...], now: datetime
) -> Review:
    return planted_review(
        like,
        new_id=new_id,
        digest=content_digest(json.loads(stored.answer or b"{}")["output"]),
        rank=like.rank,
        uncertainty=like.uncertainty,
        not_by=not_by,
        now=now,
    )
