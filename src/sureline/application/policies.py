"""Which policy holds: proposing, activating and reading it back (DESIGN §3, policy changes)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from sureline.application.models_seen import measured_by, models_seen
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.policies import LoadedPolicy
from sureline.application.ports.registry import Activation, Registry
from sureline.core.gate.acting import acting
from sureline.core.values.policy import Mode, Policy
from sureline.core.values.switch import Switch
from sureline.errors import NotFound, PolicyError

POLICY = "policy"
"""The kind of an activation that makes a policy current."""

SHORTEST_PREFIX = 6


class PolicyBook:
    """The policies of one workspace: what was proposed, and what a person made current."""

    def __init__(
        self,
        *,
        registry: Registry,
        ledger: Ledger,
        clock: Clock,
        load: Callable[[str | PurePath], LoadedPolicy],
        restore: Callable[[str], Policy],
        workspace: str = "default",
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._clock = clock
        self._load = load
        self._restore = restore
        self._workspace = workspace
        self._mark: int | None = None
        self._current: Policy | None = None
        self._read: Policy | None = None

    async def current(self, activation_mark: int) -> Policy:
        """Return the policy that holds, reading it again only if the store's mark has changed.

        Raises PolicyError if none is active or the active one cannot be read.
        """
        if self._current is None or activation_mark != self._mark:
            self._current = await self.latest()
            self._mark = activation_mark
        return self._current

    async def latest(self) -> Policy:
        """Return the policy that the store says holds now; raises as `current` does.

        Its measurement hashes tell which models answer now behind the names it has for them.
        """
        active = await self.active_hash()
        if active is None:
            raise PolicyError("no policy is active; activate one with `sureline policy activate`")
        if self._read is None or self._read.hash != active:
            self._read = await self.stored(active)
        return measured_by(self._read, await models_seen(self._registry, self._workspace))

    async def active_hash(self) -> str | None:
        """Return the hash of the policy that holds, or None."""
        active = await self._registry.active(self._workspace, POLICY)
        return None if active is None else active.subject

    async def stored(self, policy_hash: str) -> Policy:
        """Return a proposed policy. Raises NotFound, and PolicyError if its text was altered."""
        text = await self._registry.policy_text(policy_hash)
        if text is None:
            raise NotFound(f"no policy {policy_hash} was proposed here")
        policy = self._restore(text)
        if policy.hash != policy_hash:
            raise PolicyError(
                f"the stored policy {policy_hash} does not have this hash: its text was altered"
            )
        return policy

    async def proposed(self) -> list[dict[str, Any]]:
        """Return all proposed policies, newest first: hash, proposed_at, active."""
        active = await self.active_hash()
        return [{**one, "active": one["hash"] == active} for one in await self._registry.policies()]

    async def find(self, prefix: str) -> str:
        """Return the hash that starts with `prefix` (6 characters or more). Raises NotFound."""
        wanted = prefix.strip().lower()
        known = [str(one["hash"]) for one in await self._registry.policies()]
        found = [one for one in known if one.startswith(wanted)]
        if len(wanted) < SHORTEST_PREFIX or len(found) != 1:
            raise NotFound(
                f"expected the first {SHORTEST_PREFIX} or more characters of one proposed policy, "
                f"got {prefix!r}, which {len(found)} of {len(known)} start with"
            )
        return found[0]

    def check(self, source: str | PurePath) -> LoadedPolicy:
        """Read a policy without storing it. Raises PolicyError with all that is wrong."""
        return self._load(source)

    async def propose(self, source: str | PurePath, *, by: str = "policy file") -> LoadedPolicy:
        """Validate and store a policy; routing stays as it is, but restrictions hold at once.

        A slice that the proposal gives to people, and the current policy does not, is switched to
        them whether or not the proposal is ever activated; only a person turns that off again. A
        policy that cannot be read raises PolicyError and changes nothing.
        """
        acting(by)
        loaded = self._load(source)
        await self._restrict(loaded.policy, by)
        await self._registry.propose_policy(loaded.policy.hash, loaded.text, self._clock.now())
        return loaded

    async def activate(self, policy_hash: str, *, by: str, note: str = "") -> Policy:
        """Make a proposed policy current in every process, and write down who did it.

        Raises NotFound if it was not proposed, PolicyError if it cannot be used.
        """
        policy = await self.stored(policy_hash)
        await self._registry.activate(
            Activation(
                workspace=self._workspace,
                kind=POLICY,
                subject=policy_hash,
                by=by,
                at=self._clock.now(),
                note=note,
            )
        )
        return policy

    async def introduce(self, source: str | PurePath, *, by: str = "first policy") -> Policy:
        """Propose a policy and return the one that holds.

        In a store where none was ever active the proposal is activated, which is recorded.
        """
        loaded = await self.propose(source, by=by)
        if await self.active_hash() is None:
            await self.activate(loaded.policy.hash, by=by, note="the first policy in this store")
        return await self.latest()

    async def _restrict(self, proposed: Policy, by: str) -> None:
        if await self.active_hash() is None:
            return
        for key in newly_human(await self.latest(), proposed):
            if await self._is_switched(key):
                continue
            await self._ledger.set_switch(
                Switch(
                    workspace=self._workspace,
                    scope=f"slice:{key}",
                    on=True,
                    reason=f"the proposed policy {proposed.hash[:12]} gives this slice to people",
                    by=by,
                    changed_at=self._clock.now(),
                )
            )

    async def _is_switched(self, key: str) -> bool:
        on = await self._ledger.switches_on(self._workspace, key, None)
        return any(switch.scope == f"slice:{key}" for switch in on)


def newly_human(before: Policy, after: Policy) -> tuple[str, ...]:
    """Name the slices that only people decide `after` and not yet `before`."""
    return tuple(
        key
        for key in sorted(before.slices)
        if key in after.slices and is_human(after, key) and not is_human(before, key)
    )


def is_human(policy: Policy, key: str) -> bool:
    """Tell whether people decide everything in a slice, whatever its scores."""
    one = policy.slices[key]
    action = policy.action_classes.get(one.action_class) if one.action_class else None
    return one.mode is Mode.HUMAN_ONLY or one.four_eyes or (action is not None and action.human)
