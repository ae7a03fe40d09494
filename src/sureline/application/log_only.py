"""What holds for a log: it is measured, and nothing acts on it."""

from __future__ import annotations

from dataclasses import replace

from sureline.application.current import Current, Currents
from sureline.core.values.policy import Mode, Policy


class LogOnlyCurrents(Currents):
    """What holds now, except that nothing automates: the past is measured, not acted on."""

    def __init__(self, present: Currents) -> None:
        self._present = present

    async def at(
        self, slice_key: str, activation_mark: int, *, secret: bytes, sample_key: str
    ) -> Current:
        """Return what holds for the slice, in log-only mode where it would route."""
        return _log_only(
            await self._present.at(slice_key, activation_mark, secret=secret, sample_key=sample_key)
        )

    async def stored(self, policy_hash: str) -> Policy:
        """Return a policy of before."""
        return await self._present.stored(policy_hash)

    async def latest(self, slice_key: str) -> Current:
        """Return the newest of what holds, in the same mode."""
        return _log_only(await self._present.latest(slice_key))


def _log_only(current: Current) -> Current:
    if current.policy.mode is not Mode.ROUTE:
        return current
    return replace(current, policy=replace(current.policy, mode=Mode.LOG_ONLY))
