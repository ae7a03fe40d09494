"""The keys of a policy that say how long a slice's payloads are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sureline.adapters.policies.setting import TRUTH, Settings, setting
from sureline.core.values.retention import RetentionPolicy


class RetentionSettings(Settings):
    """How long payloads are kept."""

    payload_days: Annotated[int, Field(ge=1, le=36_500)] | None = setting(
        None,
        expected="a whole number from 1 to 36500",
        meaning="Payloads, vectors and comments are erased so many days after the decision, "
        "unless something still needs them, and a mission's words so many days after it ended; "
        "figures stay. By default they are kept for ever.",
    )
    keep_golden: bool = setting(
        True,
        expected=TRUTH,
        meaning="Keep what an editor corrected for longer, as part of the golden set.",
    )

    def retention(self) -> RetentionPolicy:
        """Return them as the core's value."""
        return RetentionPolicy(payload_days=self.payload_days, keep_golden=self.keep_golden)
