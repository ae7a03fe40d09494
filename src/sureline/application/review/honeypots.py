"""Plant known errors among what people review, so that it shows whether they look (R7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sureline.application.current import Current, Currents
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.planted import Beside, PlantedStore
from sureline.application.review.known_errors import KnownErrors
from sureline.core.checks.result import Validator
from sureline.core.gate.sampling import Purpose, draw
from sureline.core.review.honeypot import Planted, Unplanted, is_place, run_length
from sureline.core.values.review import Review
from sureline.errors import SurelineError


@dataclass(frozen=True, slots=True, kw_only=True)
class Planter:
    """Plants known errors in one workspace; `secret` settles where, `new_id` makes ids.

    It is not part of deciding: a queue in which nothing could be planted works as well.
    """

    planted: PlantedStore
    policies: PolicyBook
    currents: Currents
    clock: Clock
    secret: bytes
    new_id: Callable[[], str]
    workspace: str
    validators: Mapping[str, Validator] = field(default_factory=dict)

    async def plant(self) -> int:
        """Walk over what is new in the queue and plant; return how many were planted."""
        currents = await self._currents()
        if not currents:
            return 0
        now = self.clock.now()
        errors = KnownErrors(secret=self.secret, new_id=self.new_id, validators=self.validators)

        def choose(
            item: Review, ordinal: int | None, there: Callable[[], Beside]
        ) -> Planted | Unplanted | None:
            current = currents.get(item.slice_key)
            if current is None or not self._is_place(current, item.slice_key, ordinal):
                return None
            return errors.made(item, there(), current, opened_at(item, now))

        return await self.planted.plant(self.workspace, choose, now=now)

    async def _currents(self) -> dict[str, Current]:
        """Return what holds where anything is planted; nothing is where no policy can be used."""
        try:
            policy = await self.policies.latest()
            return {
                key: await self.currents.latest(key)
                for key, one in policy.slices.items()
                if one.attention.honeypots > 0
            }
        except SurelineError:
            return {}

    def _is_place(self, current: Current, slice_key: str, ordinal: int | None) -> bool:
        if ordinal is None:
            return True
        share = current.policy.attention.honeypots
        run = (ordinal - 1) // run_length(share)
        place = draw(self.secret, Purpose.HONEYPOT, f"{self.workspace}\0{slice_key}\0{run}")
        return is_place(ordinal, share, place)


def opened_at(item: Review, now: datetime) -> datetime:
    """Return when an item that is planted behind another says that it was opened: just after it.

    It then waits where it belongs in the queue. One that was opened only now would wait behind all
    that came before it, and somebody who works down a long queue would see none.
    """
    return min(now, item.opened_at + (now - item.opened_at) / 1000)
