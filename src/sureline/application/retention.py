"""Erase payloads that the policy does not keep any longer (L12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sureline.application.erasure import PAGE
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.erasures import Erasures, Hold, PastDue
from sureline.application.ports.jobs import Job
from sureline.core.values.counted import counted
from sureline.core.values.policy import Policy
from sureline.core.values.retention import RetentionPolicy

BY = "policy"
"""Under this name the ledger says that the policy had something erased."""


@dataclass(slots=True, kw_only=True)
class SliceRetained:
    """What a run found in a slice: `erased` (or due, where it only looked) and held payloads.

    `held` says how many are kept for each reason; one may be kept for several.
    """

    slice_key: str
    payload_days: int
    erased: int = 0
    kept: int = 0
    held: Counter[Hold] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What a run found in all slices that have a time limit, under which policy."""

    policy: str
    slices: Sequence[SliceRetained]

    @property
    def erased(self) -> int:
        """Return how many payloads of decisions, and missions' words, were erased."""
        return sum(one.erased for one in self.slices)

    @property
    def sentence(self) -> str:
        """Say what came of it."""
        if not self.slices:
            return "the policy keeps everything"
        kept = sum(one.kept for one in self.slices)
        return f"erased {counted(self.erased, 'payload')} past its time; {kept} are still needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Applies the active policy's time limits to what a workspace keeps.

    `forget_replies` empties what is in memory and may quote a payload.
    """

    store: Erasures
    policies: PolicyBook
    clock: Clock
    workspace: str
    forget_replies: Callable[[], None] = lambda: None

    async def look(self) -> Retained:
        """Return what a run would erase now; nothing is changed. Raises PolicyError."""
        policy = await self.policies.latest()
        found = _by_slice(policy)
        async for page in self._pages(policy):
            for one in page:
                slice_found = found[one.slice_key]
                slice_found.erased += not _holds(policy, one)
                _note(slice_found, _holds(policy, one))
        async for key, missions in self._past_missions(policy):
            found[key].erased += len(missions)
        return Retained(policy=policy.hash, slices=tuple(found.values()))

    async def run(self, progress: Callable[[int], None] = lambda _: None) -> Retained:
        """Erase what is past its time, in pages; safe to stop and to repeat.

        What is still needed is left, and looked at again in the next run. Raises PolicyError.
        """
        policy = await self.policies.latest()
        found = _by_slice(policy)
        async for page in self._pages(policy):
            for key, ids in _free(policy, page).items():
                found[key].erased += await self._erase(policy, key, ids)
            for one in page:
                _note(found[one.slice_key], _holds(policy, one))
            progress(len(page))
        async for key, missions in self._past_missions(policy):
            found[key].erased += await self._erase_missions(policy, key, missions)
            progress(len(missions))
        done = Retained(policy=policy.hash, slices=tuple(found.values()))
        if done.erased:
            self.forget_replies()
        return done

    async def _erase(self, policy: Policy, key: str, ids: Sequence[str]) -> int:
        rule = policy.slices[key].retention
        erased = 0
        for first in range(0, len(ids), PAGE):
            erased += await self.store.erase_due(
                self.workspace,
                ids[first : first + PAGE],
                spared=_spared(rule),
                by=BY,
                reason=_reason(policy, rule),
                at=self.clock.now(),
            )
        return erased

    async def _erase_missions(self, policy: Policy, key: str, ids: Sequence[str]) -> int:
        reason = _reason(policy, policy.slices[key].retention)
        now = self.clock.now()
        return await self.store.erase_missions(self.workspace, ids, by=BY, reason=reason, at=now)

    async def _past_missions(self, policy: Policy) -> AsyncIterator[tuple[str, Sequence[str]]]:
        """Yield missions that are over for so long, a page of a slice at a time."""
        for key, before in _limits(policy, self.clock.now()):
            after = ""
            while policy.slices[key].is_mission and (
                page := await self.store.past_missions(
                    self.workspace, key, before, after=after, limit=PAGE
                )
            ):
                yield key, page
                after = page[-1]

    async def _pages(self, policy: Policy) -> AsyncIterator[Sequence[PastDue]]:
        before = dict(_limits(policy, self.clock.now()))
        after: str | None = None
        while before:
            page = await self.store.past_due(self.workspace, before, after)
            if page.found:
                yield page.found
            if page.after is None:
                return
            after = page.after


def _reason(policy: Policy, rule: RetentionPolicy) -> str:
    return f"kept for {rule.payload_days} days by policy {policy.hash}"


def _limits(policy: Policy, now: datetime) -> Iterator[tuple[str, datetime]]:
    for key, one in policy.slices.items():
        if one.retention.payload_days is not None:
            yield key, now - timedelta(days=one.retention.payload_days)


def _by_slice(policy: Policy) -> dict[str, SliceRetained]:
    return {
        key: SliceRetained(slice_key=key, payload_days=one.retention.payload_days)
        for key, one in sorted(policy.slices.items())
        if one.retention.payload_days is not None
    }


def _spared(rule: RetentionPolicy) -> frozenset[Hold]:
    return frozenset(one for one in Hold if rule.keep_golden or one is not Hold.GOLDEN)


def _holds(policy: Policy, one: PastDue) -> frozenset[Hold]:
    return _spared(policy.slices[one.slice_key].retention).intersection(one.holds)


def _free(policy: Policy, page: Sequence[PastDue]) -> Mapping[str, Sequence[str]]:
    free: dict[str, list[str]] = {}
    for one in page:
        if not _holds(policy, one):
            free.setdefault(one.slice_key, []).append(one.decision_id)
    return free


def _note(found: SliceRetained, holds: frozenset[Hold]) -> None:
    found.kept += bool(holds)
    found.held.update(holds)


def retention_job(keeper: Keeper, interval: timedelta) -> Job:
    """Return the periodic job that erases what is past its time."""

    async def run() -> str:
        return (await keeper.run()).sentence

    return Job(
        name="retention",
        about="Erase payloads that the policy does not keep any longer.",
        interval=interval,
        run=run,
    )
