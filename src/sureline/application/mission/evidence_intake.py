"""Take in evidence from outside: one strict description for Python, HTTP and CLI (M2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Required

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from sureline.application.fault_words import in_words
from sureline.core.checks.json_value import Refused, copy_json
from sureline.core.mission.gathering import added, bounded, shortened, written
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn
from sureline.core.values.model_card import MOST_DOLLARS, MOST_TOKENS
from sureline.errors import InvalidInput

MOST_CHARACTERS = 200_000
"""Of what one invocation hands in so much is taken, and the rest counted."""
MOST_ITEMS = 1_000
"""So many of the newest turns, and of the newest calls, are looked at."""

_FORBID = ConfigDict(extra="forbid", strict=True)
_Count = Annotated[int, Field(ge=0, le=2**53)]


@with_config(_FORBID)
class TurnFields(TypedDict):
    """One message of the conversation; `role` is any name."""

    role: str
    text: str


@with_config(_FORBID)
class ToolCallFields(TypedDict, total=False):
    """One call of a tool; `arguments` and `result` are any JSON values."""

    name: Required[str]
    arguments: Any
    result: Any
    ok: bool | None


@with_config(_FORBID)
class CutFields(TypedDict, total=False):
    """What was left out already: turns, calls, and characters of those that are here."""

    turns: _Count
    calls: _Count
    characters: _Count


@with_config(_FORBID)
class EvidenceFields(TypedDict, total=False):
    """What happened in an invocation, oldest first; every field may be left out.

    `state` is any JSON value, `cost` is in US dollars. However much is handed in, the newest of it
    is taken.
    """

    conversation: list[TurnFields] | None
    calls: list[ToolCallFields] | None
    state: Any
    trigger: str | None
    answer: str | None
    tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None
    cost: Annotated[float, Field(ge=0.0, le=MOST_DOLLARS, allow_inf_nan=False)] | None
    model: Annotated[str, Field(min_length=1, max_length=200)] | None
    cut: CutFields | None


@cache
def _adapter() -> TypeAdapter[EvidenceFields]:
    return TypeAdapter(EvidenceFields)


def read_evidence(given: Evidence | Mapping[str, Any] | None) -> Evidence:
    """Return what was handed in, at most MOST_CHARACTERS of it, with what was left out counted.

    A mapping has the fields of EvidenceFields; None is no evidence. The result shares nothing with
    what was given that its owner could still change. Halves of characters are replaced. Raises
    InvalidInput naming each field at fault and what was expected there; never for too much.
    """
    reading = _Reading()
    raw = reading.looked_at(_fields_of(given))
    try:
        read = _adapter().validate_python(raw)
    except ValidationError as error:
        raise in_words(error, raw, shape=EvidenceFields, whole="evidence") from None
    known = {name: value for name, value in read.items() if value is not None}
    turns, calls, before = read.get("conversation"), read.get("calls"), read.get("cut")
    evidence = Evidence(
        **known  # type: ignore[arg-type]
        | {
            "conversation": tuple(Turn(**one) for one in turns or ()),
            "calls": tuple(ToolCall(**one) for one in calls or ()),
            "cut": added(Cut(**(before or {})), reading.cut),
        }
    )
    return bounded(evidence, MOST_CHARACTERS)


class _Reading:
    """Looks at what is given as far as it will be kept; `cut` counts what it passes over.

    What has another type than expected stays as it is, for the description to refuse.
    """

    def __init__(self) -> None:
        self.cut = Cut()

    def looked_at(self, given: object) -> object:
        """Return the fields with the newest items only, texts shortened and values copied."""
        if not isinstance(given, dict):
            return given
        looked = self._texts(given, ("trigger", "answer", "model"))
        if isinstance(given.get("cut"), Cut):
            looked["cut"] = _fields_of(given["cut"])
        for name in ("conversation", "calls"):
            items = given.get(name)
            if isinstance(items, list | tuple):
                left_out = max(0, len(items) - MOST_ITEMS)
                counted = {"turns" if name == "conversation" else "calls": left_out}
                self.cut = added(self.cut, Cut(**counted))
                looked[name] = [
                    self._item(_fields_of(one), f"{name}.{left_out + at}")
                    for at, one in enumerate(items[left_out:])
                ]
        return self._values(looked, ("state",), "")

    def _item(self, given: object, path: str) -> object:
        if not isinstance(given, dict):
            return given
        looked = self._texts(given, ("role", "text", "name"))
        return self._values(looked, ("arguments", "result"), f"{path}.")

    def _texts(self, given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        texts = {name: given[name] for name in names if isinstance(given.get(name), str)}
        return {**given, **{name: self._text(text) for name, text in texts.items()}}

    def _values(self, given: dict[str, Any], names: Sequence[str], path: str) -> dict[str, Any]:
        held = [name for name in names if given.get(name) is not None]
        return {**given, **{name: self._value(given[name], f"{path}{name}") for name in held}}

    def _text(self, text: str) -> str:
        short, removed = shortened(text, MOST_CHARACTERS)
        self.cut = added(self.cut, Cut(characters=removed))
        return short.encode("utf-8", "replace").decode()

    def _value(self, value: object, path: str) -> object:
        if isinstance(value, str):
            return self._text(value)
        try:
            text = written(value)
            # What is too long stays as its text, which nobody needs to copy first.
            return self._text(text) if len(text) > MOST_CHARACTERS else copy_json(value)
        except InvalidInput as error:
            raise InvalidInput(str(error), field=path) from None
        except Refused as refused:
            raise InvalidInput(f"not a JSON value: {refused.message}", field=path) from None


def _fields_of(given: object) -> object:
    """Return a mapping, or a value of ours, as a dict that lasts; anything else as it is."""
    if given is None:
        return {}
    if isinstance(given, Evidence | Turn | ToolCall | Cut):
        return {field.name: getattr(given, field.name) for field in fields(given)}
    return dict(given) if isinstance(given, Mapping) else given
