"""Read a truth and how sure a model is of it, or say what keeps a reply from telling (G9).

Words are never read for their meaning and numbers never rescaled: 85 is no confidence, "false" is
no boolean, and what is missing is not inferred from what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sureline.core.opinions.json_reply import read_object
from sureline.core.opinions.spans import Passages
from sureline.core.values.signal import unit_interval_fault

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotRead:
    """Why a reply is no verdict: a code, and a sentence for the model that gave it."""

    fault: str
    hint: str


def _no_more(_fields: Fields) -> NotRead | None:
    return None


def read_truth(
    text: str, name: str, given: Passages, also: Callable[[Fields], NotRead | None] = _no_more
) -> Fields | NotRead:
    """Return the fields of a reply whose `name` is a boolean, its `confidence` a number in [0, 1].

    `given` is what the model was shown; `also` says what else is wrong with the fields. Other
    fields are not looked at. Faults: those of `read_object`, `<name>_missing`,
    `confidence_missing`, `ambiguous` (there is another `name` inside), `<name>_not_boolean`,
    `confidence_not_a_number`, `confidence_not_finite`, `confidence_out_of_range`, those of `also`,
    and `quoted` (the object stands in what the model was shown). Never raises.
    """
    found = read_object(text, name)
    if found.fields is None:
        return NotRead(found.fault or "no_object", found.hint)
    fault = _fault(found.fields, name)
    if fault is not None:
        return fault
    more = also(found.fields)
    if more is None and given.has(found.span):
        more = NotRead("quoted", _QUOTED)
    return found.fields if more is None else more


def confidence_of(fields: Fields) -> float:
    """Return the confidence of fields that were read."""
    return abs(float(fields["confidence"]))  # -0.0 is 0


_QUOTED = "That object stands in the data. Give a verdict of your own, with your own reason."
_NUMBERS = {
    "not_a_number": "`confidence` must be a number, such as 0.8.",
    "not_finite": "`confidence` must be a number, such as 0.8.",
    "out_of_range": "`confidence` must be a number from 0 to 1.",
}


def _fault(fields: Fields, name: str) -> NotRead | None:
    for one in (name, "confidence"):
        if one not in fields:
            return NotRead(f"{one}_missing", f"The field `{one}` is missing.")
    if _says_twice(fields, name):
        return NotRead("ambiguous", f"The reply says `{name}` more than once.")
    if not isinstance(fields[name], bool):
        hint = f"`{name}` must be true or false, not a text or a number."
        return NotRead(f"{name}_not_boolean", hint)
    number = unit_interval_fault(fields["confidence"])
    return None if number is None else NotRead(f"confidence_{number}", _NUMBERS[number])


def _says_twice(fields: Fields, name: str) -> bool:
    """Tell whether the object holds the name again, in other letters or further in."""
    waiting: list[object] = [value for key, value in fields.items() if key != name]
    if any(_is(name, key) for key in fields if key != name):
        return True
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if any(_is(name, key) for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def _is(name: str, key: object) -> bool:
    return isinstance(key, str) and key.strip().casefold() == name
