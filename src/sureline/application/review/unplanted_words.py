"""Why no known error could be planted, in plain words (R7)."""

from __future__ import annotations

from sureline.core.review.honeypot import Unplanted

_WHY = {
    Unplanted.NO_MATERIAL: "no labelled output of the slice is left to make one of; each is used "
    "once, and the next verdicts bring more",
    Unplanted.NOTHING_TO_CHANGE: "what was right holds no figure, date or name that could well "
    "be another, and nothing was rejected that somebody else could be shown",
    Unplanted.CHECKS_CATCH_IT: "the checks would reject every error that could be made before a "
    "person sees it, and nothing was rejected that somebody else could be shown",
}


def unplanted_sentence(why: Unplanted) -> str:
    """Say that no known error could be planted in a slice where one belonged, and why."""
    return f"No error could be planted where one belonged: {_WHY[why]}."
