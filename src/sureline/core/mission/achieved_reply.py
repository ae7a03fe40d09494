"""Read whether an objective is achieved, or say what keeps a reply from telling (M2, M6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.core.opinions.spans import Passages
from sureline.core.opinions.truth_reply import Fields, NotRead, confidence_of, read_truth

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "progress": {"type": "string"},
        "achieved": {"type": "boolean"},
        "confidence": {"type": "number"},
    },
    "required": ["reasoning", "progress", "achieved", "confidence"],
    "additionalProperties": False,
}
"""The JSON Schema of a reply; whether a provider holds its model to it changes nothing here."""

MOST_WORDS = 1000
"""Characters of a judge's reasoning, and of its progress, that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidAchieved:
    """A judge's verdict as it was read; its own words are shortened, None where there are none."""

    achieved: bool
    confidence: float
    reasoning: str | None
    progress: str | None


def read_achieved(text: str, given: Passages) -> SaidAchieved | NotRead:
    """Return the verdict in a reply; `given` is what the judge was shown.

    Needs `achieved` (a true boolean) and `confidence` (a number in [0, 1]), see `read_truth`, whose
    faults there are. `reasoning` and `progress` are words, never interpreted; what else the object
    has is not looked at. Never raises.
    """
    fields = read_truth(text, "achieved", given)
    if isinstance(fields, NotRead):
        return fields
    return SaidAchieved(
        achieved=fields["achieved"],
        confidence=confidence_of(fields),
        reasoning=_words(fields, "reasoning"),
        progress=_words(fields, "progress"),
    )


def _words(fields: Fields, name: str) -> str | None:
    words = fields.get(name)
    return (words.strip()[:MOST_WORDS] or None) if isinstance(words, str) else None
