"""The keys of a policy that say who is told what (R10)."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies.setting import FieldPath, Settings, Text, is_name, setting
from sureline.core.values.notification import Channel, ChannelKind, NoticeKind, Notifications

EVENTS = {
    "opened": NoticeKind.OPENED,
    "escalated": NoticeKind.ESCALATED,
    "expired": NoticeKind.EXPIRED,
    "decided": NoticeKind.DECIDED,
    "corrected": NoticeKind.CORRECTED,
    "tripped": NoticeKind.TRIPPED,
    "switched": NoticeKind.SWITCHED,
    "broken": NoticeKind.BROKEN,
    "mission_suspended": NoticeKind.MISSION_SUSPENDED,
    "mission_reminded": NoticeKind.MISSION_REMINDED,
    "mission_recovered": NoticeKind.MISSION_RECOVERED,
    "mission_failed": NoticeKind.MISSION_FAILED,
    "mission_completed": NoticeKind.MISSION_COMPLETED,
}
Event = Literal[
    "opened",
    "escalated",
    "expired",
    "decided",
    "corrected",
    "tripped",
    "switched",
    "broken",
    "mission_suspended",
    "mission_reminded",
    "mission_recovered",
    "mission_failed",
    "mission_completed",
]
USUAL: dict[str, tuple[Event, ...]] = {
    "message": (
        *("opened", "escalated", "expired", "corrected", "tripped", "switched", "broken"),
        *("mission_suspended", "mission_reminded", "mission_recovered", "mission_failed"),
    ),
    "webhook": ("decided", "expired", "corrected"),
}
PER_MINUTE = {"message": 2, "webhook": 600}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}\Z")


def _variable(text: str) -> str:
    if not _VARIABLE.match(text):
        raise ValueError(
            "expected the name of an environment variable such as SURELINE_SLACK_URL, never the "
            "secret itself"
        )
    return text


def _named(text: str) -> str:
    if not is_name(text):
        raise ValueError('expected a name: letters, digits, "_", "-" and ".", at most 100')
    return text


def _address(text: str) -> str:
    parts = _split(text)
    if parts is None or parts.username is not None or parts.fragment:
        raise ValueError("expected https://host/path, without a password and without #")
    return text


def _page(text: str) -> str:
    if _split(text) is None or urlsplit(text).query or urlsplit(text).fragment:
        raise ValueError("expected where the pages are served, such as https://review.example.com")
    return text.rstrip("/")


def _split(text: str) -> SplitResult | None:
    """Return the parts of a web address, None if it is none."""
    if not text.isascii() or any(char.isspace() or char < " " for char in text):
        return None
    try:
        parts = urlsplit(text)
        reads = parts.scheme in {"https", "http"} and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if reads else None


Variable = Annotated[str, AfterValidator(_variable)]
Named = Annotated[str, AfterValidator(_named)]
Address = Annotated[str, AfterValidator(_address), Field(max_length=2000)]
VARIABLE = "the name of an environment variable"


class ChannelSettings(Settings):
    """One channel."""

    name: Named = setting(
        ..., expected="a name", meaning="What the channel is called, here and in the outbox."
    )
    kind: Literal["message", "webhook"] = setting(
        ...,
        expected="message or webhook",
        meaning="A text for people (Slack, e-mail, Teams ...), or a signed request for programs.",
    )
    address_from: Variable | None = setting(
        None,
        expected=VARIABLE,
        meaning="Where the address of a `message` stands, as apprise writes it; it is a secret.",
    )
    url: Address | None = setting(
        None,
        expected="https://host/path",
        meaning="Where a `webhook` goes; plain http only for hosts in `allow_private`.",
    )
    secret_from: Variable | None = setting(
        None,
        expected=VARIABLE,
        meaning="Where the secret that signs a `webhook` stands: `whsec_` and base64.",
    )
    events: Annotated[list[Event], Field(min_length=1)] | None = setting(
        None,
        expected="a list of opened, escalated, expired, decided, corrected, tripped, switched, "
        "broken, mission_suspended, mission_reminded, mission_recovered, mission_failed and "
        "mission_completed",
        meaning="What is told. By default a `message` tells all but `decided` and "
        "`mission_completed`, and a `webhook` only `decided`, `expired` and `corrected`.",
    )
    slices: list[Text] = setting(
        [], expected="a list of slices", meaning="Only of these slices; with none, of all."
    )
    keys: list[Text] = setting(
        [],
        expected="a list of names of API keys",
        meaning="Only of what keys of these names have submitted; with none, of all.",
    )
    at_most_per_minute: Annotated[int, Field(ge=1, le=6000)] | None = setting(
        None,
        expected="a whole number from 1 to 6000",
        meaning="How often the channel is used; messages gather what comes meanwhile. By default "
        "2 for a `message`, 600 for a `webhook`.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        needed = {"message": ("address_from",), "webhook": ("url", "secret_from")}
        for kind, keys in needed.items():
            for key in keys:
                stated = getattr(self, key) is not None
                if stated != (kind == self.kind):
                    verb = "needs" if kind == self.kind else "has no"
                    raise ValueError(f"channel {self.name}: a {self.kind} {verb} {key}")
        return self

    def channel(self) -> Channel:
        """Return it as the core's value."""
        return Channel(
            name=self.name,
            kind=ChannelKind(self.kind),
            events=tuple(EVENTS[one] for one in self.events or USUAL[self.kind]),
            slices=tuple(self.slices),
            keys=tuple(self.keys),
            url=self.url,
            secret_variable=self.secret_from,
            address_variable=self.address_from,
            per_minute=self.at_most_per_minute or PER_MINUTE[self.kind],
        )


class FieldSettings(Settings):
    """What of a slice's outputs may be told."""

    slice: Text = setting(..., expected="a slice", meaning="Of which slice.")
    show: Annotated[list[FieldPath], Field(min_length=1, max_length=20)] = setting(
        ...,
        expected="a list of fields of the output, dotted, at most 20",
        meaning="These leave for every channel that is told of the slice's items.",
    )


class NotificationSettings(Settings):
    """Who is told what."""

    page: Annotated[str, AfterValidator(_page), Field(max_length=500)] | None = setting(
        None,
        expected="where the pages are served, such as https://review.example.com",
        meaning="What links begin with; without it nothing has a link.",
    )
    allow_private: list[Text] = setting(
        [],
        expected="a list of host names",
        meaning="Hosts that may be reached in a private network, and by plain http.",
    )
    fields: list[FieldSettings] = setting(
        [],
        expected="a list, each with slice and show",
        meaning="What of the outputs is told; with none, only counts, slices and links.",
    )
    channels: Annotated[list[ChannelSettings], Field(max_length=50)] = setting(
        [], expected="a list of channels", meaning="Where notices go."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for what, found in (
            ("channels", [one.name for one in self.channels]),
            ("fields", [one.slice for one in self.fields]),
        ):
            twice = {one for one in found if found.count(one) > 1}
            if twice:
                raise ValueError(f"{what}: {', '.join(sorted(twice))} stands there twice")
        for one in self.channels:
            plain = urlsplit(one.url) if one.url else None
            if plain and plain.scheme == "http" and plain.hostname not in self._private():
                raise ValueError(
                    f"channel {one.name}: plain http is only for hosts in allow_private"
                )
        return self

    def notifications(self) -> Notifications:
        """Return them as the core's value."""
        return Notifications(
            page=self.page,
            channels=tuple(one.channel() for one in self.channels),
            fields={one.slice: tuple(one.show) for one in self.fields},
            allow_private=self._private(),
        )

    def _private(self) -> frozenset[str]:
        return frozenset(one.lower().rstrip(".").strip("[]") for one in self.allow_private)
