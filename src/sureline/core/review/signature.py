"""The signature of what comes in, by the Standard Webhooks specification.

It is computed here and not by the library that signs what goes out: that one reads the clock of
the machine, takes a body for text before it is verified, and fails in many ways on what is no
signature at all.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

TOLERANCE = timedelta(minutes=5)
"""How far a sender's clock may be off; longer ago is a replay."""

MOST_SIGNATURES = 10
"""A sender that changes its secret signs with both for a while."""

_ID = re.compile(r"[A-Za-z0-9_:@/+=-]{1,200}\Z")
"""No full stop: it parts id, time and body, which could be parted elsewhere otherwise."""
_SECONDS = re.compile(r"[0-9]{1,11}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A request as it came: three headers, and the bytes of the body, unread."""

    id: str
    timestamp: str
    signatures: str
    body: bytes = b""

    def is_of_now(self, now: datetime) -> bool:
        """Tell whether the headers are well formed and the time is not far from `now`."""
        if not _ID.match(self.id) or not _SECONDS.match(self.timestamp):
            return False
        return abs(int(self.timestamp) - now.timestamp()) <= TOLERANCE.total_seconds()


def signing_key(secret: str) -> bytes | None:
    """Return the key in a secret, `whsec_` and base64 of 24 to 64 bytes; None if it is none."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        return None
    return key if 24 <= len(key) <= 64 else None


def is_signed(one: Signed, key: bytes, now: datetime) -> bool:
    """Tell whether id, time and body were signed with this key, not longer ago than allowed.

    Every signature that was sent is compared, in a time that does not depend on how alike it is.
    """
    content = b".".join((one.id.encode(), one.timestamp.encode(), one.body))
    wanted = hmac.digest(key, content, hashlib.sha256)
    given = one.signatures.split(" ")
    fits = [hmac.compare_digest(wanted, _bytes_of(text)) for text in given[:MOST_SIGNATURES]]
    return any(fits) and one.is_of_now(now)


def _bytes_of(signature: str) -> bytes:
    """Return the bytes of a signature of version 1, none for anything else."""
    version, _, text = signature.partition(",")
    if version != "v1":
        return b""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
