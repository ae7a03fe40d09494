"""The labels that count for a slice: of its present measurement, in its window, by who looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sureline.application.ports.ledger import Ledger
from sureline.application.review.counting import NOBODY, Counting
from sureline.application.review.reviewers import Reviewers
from sureline.core.learning.labels import without
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.values.label_count import LabelCount
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.policy import Policy, SlicePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLabels:
    """One slice's labels, without those of people who were shown not to look.

    `excluded` is how many those were, `off_scale` how many labels are of outputs that no threshold
    could have automated. `measured` is what the people whose labels count noticed.
    """

    rows: Sequence[LabelCount]
    excluded: int
    off_scale: int
    measured: MeasuredDetection

    @property
    def given(self) -> int:
        """Return how many labels the slice was given."""
        return sum(row.count for row in self.rows) + self.excluded + self.off_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReader:
    """Reads the labels of one workspace; without `reviewers` all of them count."""

    ledger: Ledger
    workspace: str
    reviewers: Reviewers | None = None

    async def read(self, policy: Policy, now: datetime) -> dict[str, CountedLabels]:
        """Return the labels of every slice, each of its present measurement."""
        counting = NOBODY if self.reviewers is None else await self.reviewers.counting()
        return {
            key: await self._slice(one, policy.measurement_hashes[key], counting, now)
            for key, one in sorted(policy.slices.items())
        }

    async def _slice(
        self, policy: SlicePolicy, measurement: str, counting: Counting, now: datetime
    ) -> CountedLabels:
        since = week_number(day_number(now) - policy.window_days)
        of = (self.workspace, policy.key, measurement)
        every = await self.ledger.label_counts(*of, since_week=since)
        rows = every
        for name in counting.unseen_in(policy.key):
            assert self.reviewers is not None
            theirs = await self.reviewers.planted.labels_by(*of, since_week=since, by=name)
            rows = without(rows, theirs)
        return CountedLabels(
            rows=rows,
            excluded=sum(row.count for row in every) - sum(row.count for row in rows),
            off_scale=await self.ledger.labels_off_scale(*of, since_week=since),
            measured=counting.measured(policy.key),
        )
