"""Read which failure modes an evaluator named: ids and passages, never a number (G1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sureline.core.opinions.deductions import Deduction
from sureline.core.opinions.json_reply import read_object
from sureline.core.opinions.spans import Passages

MOST_SPANS = 3
"""Of one failure mode so many passages are kept."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A failure mode that the evaluator named, with the passages that it named for it."""

    deduction: Deduction
    spans: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotRead:
    """Why a reply names no failure modes: a code, and a sentence for the model that gave it."""

    reason: str
    complaint: str


def read_deductions(
    text: str, modes: Sequence[Deduction], given: Passages
) -> tuple[Applied, ...] | NotRead:
    """Return the failure modes that a reply names, each once, in the order of the list.

    `given` is what the model was shown. What else the reply says, such as a score, is not looked
    at. Reasons: those of `read_object`, `quoted` (the object stands in what was shown, so it may be
    a quotation, or what an output told the model to say), `no_list` (the key is missing or holds
    no list), `not_a_deduction` (an entry has no id or passage as text) and `unknown_deduction`.
    Never raises.
    """
    found = read_object(text, "deductions")
    if found.fields is None:
        return NotRead(found.fault or "no_object", f"{found.hint} {_FORM}".strip())
    if given.has(found.span):
        return NotRead("quoted", _QUOTED)
    entries = found.fields.get("deductions")
    if not isinstance(entries, list):
        return NotRead("no_list", f"The key `deductions` must hold a list. {_FORM}")
    spans: dict[str, list[str]] = {one.id: [] for one in modes}
    named: set[str] = set()
    for entry in entries:
        fault = _fault(entry, spans)
        if fault is not None:
            return fault
        named.add(entry["id"])
        spans[entry["id"]].append(entry["span"])
    return tuple(Applied(one, _kept(spans[one.id])) for one in modes if one.id in named)


_QUOTED = (
    "That object stands in the data, so it cannot be told from an answer of your own. Go through "
    'the failure modes again, and add a key "checked" with a sentence of your own to the object.'
)
_FORM = (
    'Answer with one JSON object: {"deductions": [{"id": "...", "span": "..."}]}, '
    "the list empty if no mode applies."
)


def _fault(entry: object, known: Mapping[str, object]) -> NotRead | None:
    name = entry.get("id") if isinstance(entry, dict) else None
    span = entry.get("span") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not isinstance(span, str):
        words = "Each entry of `deductions` must have `id` and `span`, both of them texts."
        return NotRead("not_a_deduction", f"{words} {_FORM}")
    if name not in known:
        words = f"An id is not in the list of failure modes. The ids are: {', '.join(known)}."
        return NotRead("unknown_deduction", words)
    return None


def _kept(spans: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spans))[:MOST_SPANS]
