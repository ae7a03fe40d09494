"""Call back what acted alone: list it, revoke its approvals, and have people look again (R14)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sureline.application.current import Currents
from sureline.application.ports.clock import Clock
from sureline.application.ports.recalls import (
    CalledBack,
    Content,
    RecallPage,
    RecallStore,
)
from sureline.core.review.line import line_of
from sureline.core.review.recalled import recalled_review
from sureline.core.values.recall import Covered, Recall, RecallWanted
from sureline.core.values.review import Review, ReviewRules
from sureline.errors import NotFound, PolicyError, StoreError, SurelineError, UnknownSlice

logger = logging.getLogger(__name__)

AT_ONCE = 20
"""Batches that one sweep carries out, so that leases and deadlines do not wait for a recall."""
CODE = "recalled"
"""Why an item is in the queue, as its line says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPreview:
    """How many decisions a recall would cover.

    Of all `covered`, `used` had their approval used already, `unused` would be revoked, and
    `recalled` were called back before, so that nothing would be done about them.
    """

    covered: int = 0
    used: int = 0
    unused: int = 0
    recalled: int = 0
    by_slice: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """Calls back decisions of one workspace.

    A recall releases and executes nothing. It makes approvals unusable and opens items of the
    queue whose verdicts are labels like an incident's.
    """

    store: RecallStore
    currents: Currents
    clock: Clock
    new_id: Callable[[], str]
    workspace: str

    async def preview(self, wanted: RecallWanted) -> RecallPreview:
        """Count what a recall would cover now; memory does not grow with it.

        Raises UnknownSlice.
        """
        await self._check_slice(wanted)
        covered = used = recalled = unused = 0
        slices: Counter[str] = Counter()
        async for page in self._pages(wanted):
            for one in page.covered:
                covered, used = covered + 1, used + one.used
                before = one.recalled_by is not None
                recalled, unused = recalled + before, unused + (not one.used and not before)
                slices[one.slice_key] += 1
        return RecallPreview(
            covered=covered,
            used=used,
            unused=unused,
            recalled=recalled,
            by_slice=dict(sorted(slices.items())),
        )

    async def listed(self, wanted: RecallWanted, *, after: int, limit: int) -> RecallPage:
        """Return the decisions that a recall would cover after a place, at most `limit`."""
        found: list[Covered] = []
        async for page in self._pages(wanted, after):
            found += page.covered
            if len(found) > limit:
                return RecallPage(covered=tuple(found[:limit]), next_mark=found[limit - 1].mark)
        return RecallPage(covered=tuple(found), next_mark=None)

    async def start(self, wanted: RecallWanted, *, reason: str, by: str) -> Recall:
        """Begin a recall; from now on no approval that it covers can be used.

        One of the same that is not finished is gone on with. `run` or `resume` carry it out.
        Raises UnknownSlice.
        """
        await self._check_slice(wanted)
        return await self.store.start(
            Recall(
                workspace=self.workspace,
                id=f"rec_{self.new_id()}",
                wanted=wanted,
                reason=reason,
                by=by,
                started_at=self.clock.now(),
            )
        )

    async def run(self, recall: Recall, advance: Callable[[int], None] = lambda _: None) -> Recall:
        """Carry a recall out to its end; `advance` is told how many were called back."""
        while recall.finished_at is None:
            after = await self.step(recall)
            advance(after.recalled - recall.recalled)
            recall = after
        return recall

    async def resume(self) -> int:
        """Go on with recalls that are not finished, whoever began them; return how many."""
        begun = await self.store.list(self.workspace, only_unfinished=True)
        for recall in begun:
            for _ in range(AT_ONCE):
                if recall.finished_at is None:
                    recall = await self.step(recall)
        return len(begun)

    async def step(self, recall: Recall) -> Recall:
        """Carry out one batch, in one transaction; return how far it is then.

        What is read before the transaction does not change: what acted stays in the ledger.
        """
        until = recall.until_mark
        page = await self.store.page(
            self.workspace, recall.wanted, after=recall.done_mark, until=until
        )
        fresh = [one for one in page.covered if one.recalled_by is None]
        contents = await self.store.contents([one.mark for one in fresh])
        rules = {key: await self._rules(key) for key in {one.slice_key for one in fresh}}
        rows = [
            self._called_back(one, content, rules[one.slice_key])
            for one, content in zip(fresh, contents, strict=True)
        ]
        done = until if page.next_mark is None else page.next_mark
        return await self.store.advance(recall, rows, done_mark=done, at=self.clock.now())

    async def get(self, recall_id: str) -> Recall:
        """Return a recall. Raises NotFound."""
        found = await self.store.get(self.workspace, recall_id)
        if found is None:
            raise NotFound(f"there is no recall {recall_id!r}")
        return found

    async def _check_slice(self, wanted: RecallWanted) -> None:
        """Refuse a slice that there is not: in an emergency a slip of the pen must be seen.

        One that has left the policy is called back as long as something of it is covered.
        """
        if wanted.slice_key is None:
            return
        try:
            await self.currents.latest(wanted.slice_key)
        except UnknownSlice:
            if not (await self.listed(wanted, after=0, limit=1)).covered:
                raise
        except PolicyError:
            return  # without a policy nobody knows which slices there are

    async def _pages(self, wanted: RecallWanted, after: int = 0) -> AsyncIterator[RecallPage]:
        until, mark = await self.store.horizon(), after
        while True:
            page = await self.store.page(self.workspace, wanted, after=mark, until=until)
            yield page
            if page.next_mark is None:
                return
            mark = page.next_mark

    async def _rules(self, slice_key: str) -> ReviewRules:
        """Return how a slice's items are reviewed; usual rules where it has left the policy."""
        try:
            return (await self.currents.latest(slice_key)).policy.review
        except StoreError:
            raise
        except SurelineError:
            return ReviewRules()

    def _called_back(self, one: Covered, content: Content | None, rules: ReviewRules) -> CalledBack:
        if content is None:  # erased: nobody can look at it, but its approval is revoked
            return CalledBack(decision_id=one.decision_id, review=None, line=None)
        item = self._item(one, content, rules)
        line = line_of(item, content.task, (CODE,))
        return CalledBack(decision_id=one.decision_id, review=item, line=line)

    def _item(self, one: Covered, content: Content, rules: ReviewRules) -> Review:
        # Its id is drawn: one that followed from the decision's could be taken by an agent.
        return recalled_review(
            one,
            workspace=self.workspace,
            review_id=f"recall-{self.new_id()}",
            digest=content.digest,
            rules=rules,
            now=self.clock.now(),
        )


def wanted_json(wanted: RecallWanted) -> dict[str, Any]:
    """Return what is called back as JSON values."""
    return {
        "certificate": wanted.certificate,
        "model": wanted.model,
        "policy": wanted.policy,
        "since": None if wanted.since is None else wanted.since.isoformat(),
        "until": None if wanted.until is None else wanted.until.isoformat(),
        "slice_key": wanted.slice_key,
    }


def recall_json(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values."""
    finished = recall.finished_at
    return {
        "id": recall.id,
        "wanted": wanted_json(recall.wanted),
        "reason": recall.reason,
        "by": recall.by,
        "started_at": recall.started_at.isoformat(),
        "finished_at": None if finished is None else finished.isoformat(),
        "recalled": recall.recalled,
        "queued": recall.queued,
        "used": recall.used,
    }


def covered_json(one: Covered) -> dict[str, Any]:
    """Return a decision that is covered as JSON values."""
    return {
        "decision_id": one.decision_id,
        "slice_key": one.slice_key,
        "decided_at": one.decided_at.isoformat(),
        "stakes": one.stakes,
        "certificate": one.certificate,
        "used": one.used,
        "recalled_by": one.recalled_by,
    }
