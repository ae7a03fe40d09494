"""How much the server takes on at once."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.company_sign_in import CompanySignIn
from sureline.core.checks.json_value import MAX_BYTES
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Limits of one server; what goes beyond them is refused at once, never queued for ever.

    `body_bytes` limits one body, `buffered_bytes` all bodies that are being received. A body
    must be complete after `body_seconds`. `deciding` decisions are worked on at once and
    `waiting` callers wait for a person, each for at most `longest_wait` seconds. Each key may
    make `requests_per_second` requests, and `burst` in one go. A revoked key is refused after
    `key_seconds` at the latest. Whoever hands on a verdict is answered after `ack_seconds`, done or
    not. Bodies above `inline_bytes` are parsed off the event loop
    and may hold `values` JSON values, because what is decided about them happens on it.
    `streams` browsers watch the counts at once, and `streams_of_one` key; the counts are read every
    `count_seconds`, and each stream hears something every `beat_seconds`.

    With `company` people come to the pages through their company's sign-in, and keys do not.
    """

    body_bytes: int = MAX_BYTES
    buffered_bytes: int = 64 * 1024 * 1024
    body_seconds: float = 20.0
    inline_bytes: int = 32 * 1024
    values: int = 50_000
    deciding: int = 512
    waiting: int = 256
    longest_wait: float = 60.0
    requests_per_second: float = 10_000.0
    burst: float = 20_000.0
    key_seconds: float = 0.5
    streams: int = 256
    streams_of_one: int = 8
    count_seconds: float = 1.0
    beat_seconds: float = 5.0
    ack_seconds: float = 2.0
    company: CompanySignIn | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if name != "company" and not getattr(self, name) > 0:
                raise InvalidInput("expected a number above 0", field=name)
        if self.body_bytes > MAX_BYTES:
            raise InvalidInput(f"expected at most {MAX_BYTES}", field="body_bytes")
        if self.key_seconds > 1.0:
            raise InvalidInput("expected at most 1 second", field="key_seconds")
