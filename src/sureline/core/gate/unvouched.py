"""Tell what only a source that nobody vouches for keeps from being good enough (G34)."""

from __future__ import annotations

from sureline.core.values.assessment import Assessment
from sureline.core.values.decision import Reason


def unvouched(assessed: Assessment, least: float) -> Reason | None:
    """Return why a person decides where an output is below `least` for claimed sources alone.

    None where it is not below, or would be with trusted sources too. Nobody knows then whether it
    is right: that is no ground to reject it, and none to believe it.
    """
    value, if_trusted = assessed.value, assessed.if_trusted
    if value is None or if_trusted is None or if_trusted < least:
        return None
    if value >= least and not assessed.fatal:
        return None
    return Reason(
        code="claimed_source",
        message="Its values stand only in a source that the caller's key does not vouch for, so a "
        "person decides (see trusted sources of keys).",
    )
