"""What waits to be told, as it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sureline.core.review.pacing import Pace
from sureline.core.values.notification import Notice


class DeliveryState(StrEnum):
    """Where the telling of one notice to one channel stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"
    """It failed too often, or its channel is gone; it can be replayed."""
    MOOT = "moot"
    """The item was over before anybody was told that it waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The telling of one notice to one channel; `id` is the same on every try.

    `tries` counts those that were begun. `due_at` is when the next one may begin. `said` is the
    code of what went wrong last.
    """

    id: str
    channel: str
    notice: Notice
    state: DeliveryState
    tries: int
    created_at: datetime
    due_at: datetime
    finished_at: datetime | None = None
    said: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claiming:
    """How deliveries are taken: at most `most`, held until `until`, at the channel's pace.

    With `together` all of them are one use of the channel. `owner` is the worker that holds them,
    if whoever takes them is one: once it is known to be dead, they are due at once.
    """

    now: datetime
    until: datetime
    pace: Pace
    most: int
    together: bool
    owner: str | None = None


class OutboxStore(Protocol):
    """Keeps notices, which come in with what they tell, and their deliveries."""

    async def spread(
        self, workspace: str, plan: Callable[[Notice], Sequence[str]], *, now: datetime, limit: int
    ) -> int:
        """Make a delivery for each channel that `plan` names; return how many notices were new."""

    async def due(self, workspace: str, now: datetime) -> Sequence[str]:
        """Return the channels for which deliveries are due."""

    async def claim(self, workspace: str, channel: str, how: Claiming) -> Sequence[Delivery]:
        """Take due deliveries, oldest first, each counted as a try; those that are moot end.

        Whoever dies holding them loses nothing: they are due again later.
        """

    async def give_back(self, workspace: str, taken: Sequence[Delivery], *, now: datetime) -> None:
        """Let deliveries that were taken and not begun be due at once; it was no try."""

    async def finish(
        self,
        workspace: str,
        delivery: Delivery,
        *,
        now: datetime,
        state: DeliveryState,
        due_at: datetime | None = None,
        said: str | None = None,
    ) -> None:
        """Write how a try ended; a failure of an older try than the last changes nothing."""

    async def close_channel(
        self, workspace: str, channel: str, *, now: datetime, said: str, mark: str | None = None
    ) -> int:
        """Let all that waits for a channel die; `mark` says for which target it is disabled."""

    async def closed(self, workspace: str) -> dict[str, str]:
        """Return the disabled channels, each with the mark of its target."""

    async def list(
        self, workspace: str, *, state: DeliveryState | None, channel: str | None, limit: int
    ) -> Sequence[Delivery]:
        """Return deliveries, the newest first."""

    async def get(self, workspace: str, delivery_id: str) -> Delivery | None:
        """Return a delivery, or None."""

    async def replay(
        self, workspace: str, *, now: datetime, ids: Sequence[str], channel: str | None
    ) -> int:
        """Begin anew with these deliveries, or without `ids` with all dead ones (of a channel).

        Disabled channels concerned are enabled again. Returns how many deliveries.
        """

    async def release_dead(self, seconds: float) -> int:
        """Let be due at once what workers hold whose heart has not beaten for so long.

        The database judges that by its own clock, in one statement. Returns how many.
        """

    async def prune(self, workspace: str, before: datetime) -> int:
        """Forget what was over before a moment; what is dead stays."""
