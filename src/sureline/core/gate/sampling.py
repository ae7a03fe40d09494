"""Draw samples by keyed hash: the same on every machine, unpredictable from the id (G10, G34)."""

from __future__ import annotations

import hmac
from enum import StrEnum

_SPAN = 2**64


class Purpose(StrEnum):
    """What a sample is drawn for; each has its own salt, so draws are independent."""

    JUDGE = "judge"
    AUDIT = "audit"
    REJECT_AUDIT = "reject_audit"
    DOUBLE_REVIEW = "double_review"
    THINNING = "thinning"
    FOLD = "fold"


def draw(secret: bytes, purpose: Purpose, decision_id: str) -> float:
    """Return a number in [0, 1), uniform over ids, fixed by secret, purpose and id.

    HMAC-SHA-256 over purpose and id; whoever lacks the store's secret cannot foresee it.
    """
    message = f"{purpose.value}\x00{decision_id}".encode("utf-8", "surrogatepass")
    digest = hmac.digest(secret, message, "sha256")
    return int.from_bytes(digest[:8], "big") / _SPAN


def is_sampled(secret: bytes, purpose: Purpose, decision_id: str, rate: float) -> bool:
    """Tell whether the id falls into a sample of this `rate` in [0, 1]."""
    return draw(secret, purpose, decision_id) < rate
