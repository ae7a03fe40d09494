"""What is done beside the queue so that it shows whether people look (R7)."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.review.double_review import SecondLooks
from sureline.application.review.honeypots import Planter
from sureline.application.review.reviewers import Reviewers


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSweep:
    """Plants known errors, opens second looks, and forgets figures that are too old."""

    planter: Planter
    second_looks: SecondLooks
    reviewers: Reviewers

    async def sweep(self) -> int:
        """Do all of it once; return how many items were put into the queue.

        It can be called as often as one likes, from any number of processes: each item of the
        queue is the occasion for one planted item at most, each decision for one second look.
        """
        opened = await self.planter.plant() + await self.second_looks.follow()
        await self.reviewers.forget()
        return opened
