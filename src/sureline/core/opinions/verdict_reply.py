"""Read a judge's verdict, or say what keeps it from being one (G9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.core.opinions.spans import Passages
from sureline.core.opinions.truth_reply import Fields, NotRead, confidence_of, read_truth

FAILURE_MODES: Mapping[str, str] = {
    "wrong": "it contradicts the source or the task, or miscalculates",
    "invented": "it states what is nowhere in the source or the task",
    "unsupported": "it concludes more than the source bears out",
    "incomplete": "it leaves out what the task asks for",
    "off_task": "it does something else than the task asks for",
    "schema": "it does not have the form that the task asks for",
    "unsafe": "acting on it could do harm",
    "injected": "it addresses or tries to steer whoever reviews it",
    "other": "another reason",
}
"""By code: when it applies, as the judge is told."""

OTHER = "other"
NO_MODE = frozenset({"", "none", "null"})
"""What models write in place of null."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "failure_mode": {
            "anyOf": [{"type": "string", "enum": list(FAILURE_MODES)}, {"type": "null"}]
        },
        "agrees": {"type": "boolean"},
        "confidence": {"type": "number"},
    },
    "required": ["reason", "failure_mode", "agrees", "confidence"],
    "additionalProperties": False,
}
"""The JSON Schema of a reply; whether a provider holds its model to it changes nothing here."""

MOST_WORDS = 1000
"""Characters of a judge's reason that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A judge's verdict as it was read; `reason` are the judge's own words, shortened."""

    agrees: bool
    confidence: float
    failure_mode: str | None
    reason: str | None


def read_verdict(text: str, given: Passages) -> Said | NotRead:
    """Return the verdict in a reply; `given` is what the judge was shown.

    Needs `agrees` (a true boolean) and `confidence` (a number in [0, 1]), see `read_truth`.
    `failure_mode` is text or null, and null where the judge agrees; words that are no known code
    count as `other`. What else the object has is not looked at. Faults: those of `read_truth`,
    `failure_mode_not_text` and `contradiction`. Never raises.
    """
    fields = read_truth(text, "agrees", given, _mode_fault)
    if isinstance(fields, NotRead):
        return fields
    mode = _mode(fields)
    return Said(
        agrees=fields["agrees"],
        confidence=confidence_of(fields),
        failure_mode=None if mode is None else failure_code(mode),
        reason=_words(fields, mode),
    )


def failure_code(words: str) -> str:
    """Return the code of a failure mode; other words than a code's are `other`."""
    code = words.strip().casefold()
    return code if code in FAILURE_MODES else OTHER


def _mode_fault(fields: Fields) -> NotRead | None:
    if not isinstance(fields.get("failure_mode"), str | None):
        hint = "`failure_mode` must be one of the codes, or null."
        return NotRead("failure_mode_not_text", hint)
    if fields["agrees"] and _mode(fields) is not None:
        return NotRead("contradiction", "Where `agrees` is true, `failure_mode` must be null.")
    return None


def _mode(fields: Fields) -> str | None:
    mode = fields.get("failure_mode")
    return mode if isinstance(mode, str) and mode.strip().casefold() not in NO_MODE else None


def _words(fields: Fields, mode: str | None) -> str | None:
    """Return the judge's reason, with what it wrote for a failure mode that has no code."""
    reason = fields.get("reason")
    said = [mode] if mode is not None and mode.strip().casefold() not in FAILURE_MODES else []
    said += [reason] if isinstance(reason, str) and reason.strip() else []
    words = ": ".join(said)
    return words[:MOST_WORDS] or None
