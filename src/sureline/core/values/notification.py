"""What is told when something happens to the queue or a mission, and to whom (R10, R11, M8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class NoticeKind(StrEnum):
    """What happened; its value is the event's type in callbacks."""

    OPENED = "review.opened"
    ESCALATED = "review.escalated"
    EXPIRED = "review.expired"
    DECIDED = "review.decided"
    """The verdict was released: it can no longer be taken back."""
    CORRECTED = "decision.corrected"
    """Something that acted, or that a person released, is called wrong now; or right again."""
    TRIPPED = "guard.tripped"
    """The guard gave a slice to people."""
    SWITCHED = "switch.changed"
    """Somebody turned a switch, on or off."""
    BROKEN = "ledger.broken"
    """A verification found that the ledger does not hold."""
    MISSION_SUSPENDED = "mission.suspended"
    """A person must say how a mission goes on."""
    MISSION_FAILED = "mission.failed"
    MISSION_COMPLETED = "mission.completed"
    MISSION_REMINDED = "mission.reminded"
    """Nobody has said so yet."""
    MISSION_RECOVERED = "mission.recovered"
    """What a person was called for is over."""

    @property
    def waits(self) -> bool:
        """Tell whether it asks a person to come: pointless once the item is over."""
        return self in {NoticeKind.OPENED, NoticeKind.ESCALATED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that happened to an item; it holds no word of the payload.

    `id` is the same however often it is told. `submitted_by` is the name of the API key
    that brought the proposal. `action` is a verdict's, None otherwise; `level` counts steps up, of
    a mission's escalation its reminders. A notice of a mission has the facts `mission` (its id) and
    `cause`, and as `decision_id` the evaluation that it rests on, if it rests on one.
    """

    workspace: str
    id: str
    kind: NoticeKind
    slice_key: str
    review_id: str
    decision_id: str
    at: datetime
    submitted_by: str | None = None
    action: str | None = None
    level: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)


_CALLING = frozenset(
    {
        NoticeKind.ESCALATED,
        NoticeKind.EXPIRED,
        NoticeKind.MISSION_SUSPENDED,
        NoticeKind.MISSION_REMINDED,
        NoticeKind.MISSION_FAILED,
    }
)


class ChannelKind(StrEnum):
    """How a channel is reached."""

    WEBHOOK = "webhook"
    """A signed request for each notice: for programs."""
    MESSAGE = "message"
    """A text for people, in which notices are gathered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Where notices go, as an admin wrote it down; secrets are named, never held.

    `slices` and `keys` (names of API keys) restrict what is told; empty means all. A webhook has
    `url` and `secret_variable`, a message `address_variable`.
    """

    name: str
    kind: ChannelKind
    events: tuple[NoticeKind, ...]
    slices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    url: str | None = None
    secret_variable: str | None = None
    address_variable: str | None = None
    per_minute: int = 2

    def wants(self, notice: Notice) -> bool:
        """Tell whether a notice goes here."""
        return (
            notice.kind in self.events
            and (not self.slices or notice.slice_key in {"", *self.slices})
            and (not self.keys or notice.submitted_by in self.keys)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Everything that a policy says about telling.

    `page` is where the pages are served, without a slash at its end; None leaves links out.
    `fields` are dotted paths into the output that may be told, by slice. `allow_private` are the
    hosts that may lie in a private network. `called` are the channels of whoever is on call, by
    slice and by steps up; the last holds from there on.
    """

    page: str | None = None
    channels: tuple[Channel, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allow_private: frozenset[str] = frozenset()
    called: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def receivers(self, notice: Notice) -> tuple[str, ...]:
        """Return the names of the channels that are told of a notice.

        Whoever is on call is told of a step up and of expiry, and of a mission that waits for
        somebody or failed, whatever else their channel takes.
        """
        called: tuple[str, ...] = ()
        steps = self.called.get(notice.slice_key, ())
        if steps and notice.kind in _CALLING:
            called = steps[min(notice.level, len(steps) - 1)]
        return tuple(one.name for one in self.channels if one.name in called or one.wants(notice))

    def channel(self, name: str) -> Channel | None:
        """Return the channel of a name, or None."""
        return next((one for one in self.channels if one.name == name), None)
