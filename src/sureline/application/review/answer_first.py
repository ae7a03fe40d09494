"""Show an output only to those who have said first what is right (R7).

Whoever sees a proposal is drawn to it. In a share of items the reviewer answers from task and
sources alone; then the proposal is shown, and the verdict is no anchored one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sureline.application.ports.clock import Clock
from sureline.application.ports.planted import PlantedStore
from sureline.application.ports.reviews import ReviewStore
from sureline.application.review.item import ReviewItem
from sureline.core.values.review import Review
from sureline.errors import Conflict, InvalidInput, NotFound

LONGEST = 100_000
"""Characters of an own answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFirst:
    """Takes the answers that people give before they see what was proposed."""

    planted: PlantedStore
    reviews: ReviewStore
    clock: Clock
    workspace: str

    async def answer(self, review_id: str, by: str, text: str) -> None:
        """Keep somebody's own answer; it is kept as it was given first, and shows them the output.

        Raises NotFound, InvalidInput for an empty or too long one, Conflict where none is asked
        for.
        """
        item = await self.reviews.get(self.workspace, review_id)
        if item is None:
            raise NotFound(f"there is no review {review_id!r}")
        if not item.rules.answer_first or not item.state.is_open:
            raise Conflict("no answer of your own is asked for here")
        if not text.strip() or len(text) > LONGEST:
            raise InvalidInput(f"expected 1 to {LONGEST} characters", field="answer")
        await self.planted.keep_own(
            self.workspace, review_id, by=by, answer=text, at=self.clock.now()
        )

    async def own(self, review_id: str, by: str) -> str | None:
        """Return what somebody said was right before they saw the output, None without that."""
        return await self.planted.own(self.workspace, review_id, by)


async def must_answer(planted: PlantedStore | None, item: Review, by: str) -> bool:
    """Tell whether somebody has still to say what is right before they see the output."""
    if not item.rules.answer_first or not item.state.is_open:
        return False
    return planted is None or await planted.own(item.workspace, item.id, by) is None


def check_anchoring(item: Review, answered: bool) -> None:
    """Raise Conflict where somebody decides about an output that they must not have seen."""
    if item.rules.answer_first and not answered:
        raise Conflict("say what is right first; the output is shown after that")


def withheld(item: ReviewItem) -> ReviewItem:
    """Return an item without its output and everything that quotes or rates it."""
    return replace(item, output=None, proposed=None, decision={}, claims={}, is_withheld=True)
