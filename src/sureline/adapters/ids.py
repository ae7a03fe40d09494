"""Identifiers that sort by time (UUID version 7, RFC 9562)."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> str:
    """Return a new UUIDv7: 48 bits of milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (2**48 - 1)) << 80
    value |= 0x7 << 76 | (random >> 68) << 64 | 0b10 << 62 | random & (2**62 - 1)
    return str(uuid.UUID(int=value))
