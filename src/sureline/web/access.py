"""Who is asking, and whether they may (R12, G34)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from sureline.application.ports.clock import Clock
from sureline.application.ports.keys import ApiKey, Keys, Role
from sureline.errors import Forbidden, StoreError, Unauthorized
from sureline.web.rate_limit import RateLimit

LONGEST_SECRET = 512
MOST_REMEMBERED = 10_000
FROM_MEMORY_SECONDS = 3600.0
"""How long a key that the store knew is good for scraping while the store cannot be asked."""


class Access:
    """Admits requests by their API key.

    A key that was found is believed for `seconds` without asking the store again, so a
    revocation holds after that time at the latest. Unknown keys are never remembered. Where the
    store cannot be asked nobody gets in, except `from_memory`, which is for scraping: with a key
    that the store knew in the last hour, and has not disowned since.
    """

    def __init__(
        self, keys: Keys, clock: Clock, rate: RateLimit, *, workspace: str, seconds: float
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._rate = rate
        self._workspace = workspace
        self._seconds = seconds
        self._known: dict[bytes, tuple[ApiKey, float]] = {}

    async def admit(
        self,
        headers: Mapping[bytes, bytes],
        roles: AbstractSet[Role],
        *,
        from_memory: bool = False,
    ) -> ApiKey:
        """Return the request's key. Raises Unauthorized, Forbidden, RateLimited and StoreError."""
        key = await self._find(_secret(headers), from_memory=from_memory)
        if key.workspace != self._workspace:
            raise Forbidden("this server serves another workspace than this key's")
        if key.role not in roles:
            allowed = ", ".join(role for role in Role if role in roles)
            raise Forbidden(f"this key has the role {key.role}; this takes the role {allowed}")
        self._rate.take(key.id)
        return key

    async def _find(self, secret: bytes, *, from_memory: bool) -> ApiKey:
        now = self._clock.monotonic()
        digest = hashlib.sha256(secret).digest()
        known = self._known.get(digest)
        if known is not None and now < known[1] + self._seconds:
            return known[0]
        # The time was taken before the store was read: an answer that was long under way is old.
        try:
            key = await self._keys.find(secret.decode("utf-8", "replace"))
        except StoreError:
            if from_memory and known is not None and now < known[1] + FROM_MEMORY_SECONDS:
                return known[0]
            raise
        self._known.pop(digest, None)
        if key is None:
            raise Unauthorized("this API key is unknown or was revoked")
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[digest] = (key, now)
        return key


def may_see(key: ApiKey, slice_key: str) -> bool:
    """Tell whether the key is bound to no slices, or to this one too."""
    return not key.slices or slice_key in key.slices


def check_slice(key: ApiKey, slice_key: str) -> None:
    """Raise Forbidden if the key is bound to other slices."""
    if not may_see(key, slice_key):
        raise Forbidden(f"this key is bound to other slices than {slice_key!r}")


def _secret(headers: Mapping[bytes, bytes]) -> bytes:
    scheme, _, secret = headers.get(b"authorization", b"").partition(b" ")
    secret = secret.strip()
    if scheme.lower() != b"bearer" or not secret or len(secret) > LONGEST_SECRET:
        raise Unauthorized("send your API key as `Authorization: Bearer <key>`")
    return secret
