"""Draw samples by keyed hash: the same on every machine, and not to be foreseen (G10, G34)."""

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
    STAGE = "stage"
    HONEYPOT = "honeypot"
    ANSWER_FIRST = "answer_first"


def draw(secret: bytes, purpose: Purpose, sample_key: str) -> float:
    """Return a number in [0, 1), uniform over keys, fixed by secret, purpose and key.

    HMAC-SHA-256 over purpose and key; whoever lacks the store's secret cannot foresee it. What is
    judged is drawn by a key made of the content, so that submitting the same again under another
    id is judged again or never (G34). Audits, of which an agent learns nothing, are drawn by id:
    equal contents are then audited independently of each other.
    """
    message = f"{purpose.value}\x00{sample_key}".encode("utf-8", "surrogatepass")
    digest = hmac.digest(secret, message, "sha256")
    return int.from_bytes(digest[:8], "big") / _SPAN


def is_sampled(secret: bytes, purpose: Purpose, sample_key: str, rate: float) -> bool:
    """Tell whether the key falls into a sample of this `rate` in [0, 1]."""
    return draw(secret, purpose, sample_key) < rate
