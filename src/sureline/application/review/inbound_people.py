"""Who speaks through a source, and about what they may decide (R12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.application.ports.keys import ApiKey, Role
from sureline.core.gate.acting import check_distinct
from sureline.core.values.inbound import InboundSource
from sureline.core.values.person import inbound_identity
from sureline.core.values.review import Review
from sureline.errors import Forbidden, InvalidInput

DECIDING = frozenset({Role.REVIEWER, Role.ADMIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Somebody at a source; `slices` are those that their own keys are bound to, none: all."""

    source: InboundSource
    name: str
    slices: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Return under which name their acts are recorded."""
        return inbound_identity(self.source.name, self.name)

    def check(self, item: Review) -> None:
        """Raise Forbidden where the source, or the person's own key, is bound to other slices."""
        for bound, what in ((self.source.slices, "source"), (self.slices, "reviewer's own key")):
            if bound and item.slice_key not in bound:
                raise Forbidden(f"this {what} is bound to other slices")


def speaker_of(source: InboundSource, reviewer: str, keys: Sequence[ApiKey]) -> Speaker:
    """Return who has this id at a source. Raises Forbidden for somebody who decides nothing here.

    Nobody gets more by a chat than by their keys: who has keys, and none of them decides (any
    more), is out. A name that reads like a key's, and is another, would be a second person for four
    eyes.
    """
    name = source.reviewers.get(reviewer)
    if name is None:
        raise Forbidden("this reviewer is none of the source's people")
    try:
        check_distinct(name, [one.name for one in keys])
    except InvalidInput:
        raise Forbidden(
            "the policy writes this reviewer's name otherwise than their API key does"
        ) from None
    own = [one for one in keys if one.name == name]
    deciding = [one for one in own if one.role in DECIDING]
    held = [one for one in deciding if one.revoked_at is None]
    if deciding and not held:
        raise Forbidden("this reviewer's keys were revoked")
    if own and not held:
        raise Forbidden("this reviewer's keys decide nothing: none is a reviewer's or an admin's")
    bound = bool(held) and all(one.slices for one in held)
    slices = {key for one in held for key in one.slices} if bound else set()
    return Speaker(source=source, name=name, slices=tuple(sorted(slices)))
