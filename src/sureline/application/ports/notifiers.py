"""Ways to reach people and programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sureline.application.ports.outbox import Delivery
from sureline.core.values.notification import Channel, Notifications


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """What is sent at once: one delivery, or several gathered into one message.

    `shown` are fields of the output that may leave, by the id of the notice.
    """

    deliveries: Sequence[Delivery]
    page: str | None = None
    shown: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Notifier(Protocol):
    """Reaches one channel."""

    async def send(self, parcel: Parcel) -> None:
        """Return once it was taken. Raises DeliveryFailed, and never anything of the payload."""


OpenNotifier = Callable[[Channel, Notifications], Notifier]
"""Makes what reaches a channel; secrets are read when it sends."""
