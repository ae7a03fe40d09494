"""How long a slice's payloads are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Payloads are erased `payload_days` after the decision, None: never.

    With `keep_golden` what an editor corrected is kept longer, as part of the golden set.
    """

    payload_days: int | None = None
    keep_golden: bool = True
