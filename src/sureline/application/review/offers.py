"""What a person is offered: what their groups work on, and what nobody else does (R15)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sureline.application.policies import PolicyBook
from sureline.application.ports.reviews import Wanted
from sureline.core.review.groups import least_levels
from sureline.core.values.groups import Groups
from sureline.core.values.person import person_of
from sureline.core.values.policy import Policy
from sureline.errors import SurelineError


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """Narrows what is wanted to what somebody is offered, by the groups of the current policy.

    It divides work and locks nothing: every item can be claimed by its id.
    """

    policies: PolicyBook

    async def narrowed(self, by: str, wanted: Wanted) -> Wanted:
        """Return what of `wanted` is offered to a person; what they name themselves stays."""
        if wanted.across:
            return wanted
        least = least_levels(await self.groups(), person_of(by))
        return replace(wanted, least=least) if least else wanted

    async def groups(self) -> Groups:
        """Return the groups; none where no policy can be used, so that everybody sees all."""
        policy = await self.policy()
        return {} if policy is None else policy.groups

    async def policy(self) -> Policy | None:
        """Return the policy that holds, None where none can be used."""
        try:
            return await self.policies.latest()
        except SurelineError:
            return None
