"""Keep evidence within a bound: the newest of it, with the results of tools; the rest is counted.

What is shortened keeps its beginning and its end, with a mark between them. Nothing older than
what no longer fits is looked at, so that what is far too much costs no more than what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Generic, TypeVar

from sureline.core.canonical import json_bytes
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn

ITEM = 24
"""Characters that a turn or a call takes beside its texts."""
LEAST = 120
"""Of a text at least so much is kept, or its whole item is left out."""
LONGEST_ROLE = 64
LONGEST_NAME = 128
FEW = 4
"""One of so many or more items may take that share of the room at most."""

ANSWER, STATE, TRIGGER = 8, 4, 40
"""What may take at most that part of the room."""

EARLIER_ANSWER = "answer"
"""The role under which the answers of earlier invocations are kept."""

_Item = TypeVar("_Item", Turn, ToolCall)


def bounded(evidence: Evidence, most: int) -> Evidence:
    """Return evidence of at most `most` characters, see `characters`; what was cut is counted.

    Tool calls have at least half of what answer, state and trigger leave. Evidence that fits is
    returned as it is. Raises InvalidInput for a state, argument or result that is no JSON value.
    """
    if _fits(evidence, most):
        return evidence
    answer, answer_cut = shortened(evidence.answer or "", most // ANSWER)
    trigger, trigger_cut = shortened(evidence.trigger or "", most // TRIGGER)
    state, state_size, state_cut = _value(evidence.state, most // STATE)
    room = most - len(answer) - len(trigger) - state_size
    turns = _newest(evidence.conversation, room // 2, _turn)
    calls = _newest(evidence.calls, room - turns.size, _call)
    turns = _newest(evidence.conversation, room - calls.size, _turn)
    cut = Cut(
        turns=len(evidence.conversation) - len(turns.items),
        calls=len(evidence.calls) - len(calls.items),
        characters=answer_cut + trigger_cut + state_cut + turns.removed + calls.removed,
    )
    return replace(
        evidence,
        conversation=turns.items,
        calls=calls.items,
        state=state,
        trigger=None if evidence.trigger is None else trigger,
        answer=None if evidence.answer is None else answer,
        cut=added(evidence.cut, cut),
    )


def gathered(before: Evidence, new: Evidence, *, fresh: bool, most: int) -> Evidence:
    """Return what is known after another invocation, at most `most` characters.

    Where an evaluation was made since (`fresh`), what came before has been judged: as much of it as
    fits is kept, and what is not counts as nothing cut. The earlier answer becomes a turn; a state
    or model that is not given again stays; tokens, cost and trigger are the new ones. Raises
    InvalidInput, see `bounded`.
    """
    earlier = replace(before, conversation=_told(before), answer=None, trigger=None)
    carried = replace(
        new,
        state=before.state if new.state is None else new.state,
        model=before.model if new.model is None else new.model,
    )
    if fresh:
        kept = bounded(carried, most)
        tail = bounded(replace(earlier, state=None), most - characters(kept))
        return _joined(tail, kept, kept.cut)
    return bounded(_joined(earlier, carried, added(before.cut, new.cut)), most)


def characters(evidence: Evidence) -> int:
    """Return how many characters evidence takes, with what each item takes beside its texts."""
    return sum(_sizes(evidence))


def written(value: Any) -> str:
    """Return a JSON value as text, a text as it is, null as nothing. Raises InvalidInput."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_bytes(value).decode()


def added(one: Cut, other: Cut) -> Cut:
    """Return what was left out in both."""
    return Cut(
        turns=one.turns + other.turns,
        calls=one.calls + other.calls,
        characters=one.characters + other.characters,
    )


def shortened(text: str, most: int) -> tuple[str, int]:
    """Return a text of at most `most` characters, and how many of it were left out."""
    most = max(0, most)
    if len(text) <= most:
        return text, 0
    # The mark says how many are left out, which depends on its own length: of the longest one.
    kept = most - len(_mark(len(text)))
    if kept <= 0:
        return text[:most], len(text) - most
    head, tail = kept - kept // 2, kept // 2
    removed = len(text) - kept
    return f"{text[:head]}{_mark(removed)}{text[len(text) - tail :]}", removed


def _mark(removed: int) -> str:
    return f" [... {removed} characters left out ...] "


@dataclass(frozen=True, slots=True)
class _Kept(Generic[_Item]):
    """The items that fit, oldest first, their size, and the characters cut from them."""

    items: tuple[_Item, ...]
    size: int
    removed: int


_Fit = Callable[[_Item, int], tuple[_Item, int, int]]
"""Shortens an item to a number of characters: the item, its size, what was removed."""


def _newest(items: Sequence[_Item], room: int, fit: _Fit[_Item]) -> _Kept[_Item]:
    """Return the newest items that fit: whole if all do, else long ones shortened."""
    whole = _within(items, room, room, fit)
    if len(whole.items) == len(items) and not whole.removed:
        return whole
    return _within(items, room, room // max(1, min(FEW, len(items))), fit)


def _within(items: Sequence[_Item], room: int, each: int, fit: _Fit[_Item]) -> _Kept[_Item]:
    kept: list[_Item] = []
    used = removed = 0
    for item in reversed(items):
        space = min(each, room - used)
        one, size, less = fit(item, space)
        if size > space or (less and space < LEAST):
            break
        kept.append(one)
        used, removed = used + size, removed + less
    return _Kept(tuple(reversed(kept)), used, removed)


def _turn(turn: Turn, room: int) -> tuple[Turn, int, int]:
    role, less = shortened(turn.role, LONGEST_ROLE)
    text, more = shortened(turn.text, room - ITEM - len(role))
    return replace(turn, role=role, text=text), ITEM + len(role) + len(text), less + more


def _call(call: ToolCall, room: int) -> tuple[ToolCall, int, int]:
    """Shorten a call; of its room the result has three quarters at least, if it needs them."""
    name, less = shortened(call.name, LONGEST_NAME)
    left = max(0, room - ITEM - len(name))
    _, needed, _ = _value(call.result, left - left // 4)
    arguments, size, more = _value(call.arguments, left - needed)
    result, length, most = _value(call.result, left - size)
    one = replace(call, name=name, arguments=arguments, result=result)
    return one, ITEM + len(name) + size + length, less + more + most


def _sizes(evidence: Evidence) -> Iterator[int]:
    yield len(evidence.answer or "") + len(evidence.trigger or "")
    for turn in evidence.conversation:
        yield ITEM + len(turn.role) + len(turn.text)
    for call in evidence.calls:
        yield ITEM + len(call.name) + len(written(call.arguments)) + len(written(call.result))
    yield len(written(evidence.state))


def _fits(evidence: Evidence, most: int) -> bool:
    """Tell whether nothing has to be cut; stops counting where something has to."""
    return all(total <= most for total in accumulate(_sizes(evidence)))


def _value(value: Any, most: int) -> tuple[Any, int, int]:
    """Return a JSON value, or its shortened text where it is too long; its size; what was cut."""
    text = written(value)
    short, removed = shortened(text, most)
    return (short if removed else value), len(short), removed


def _told(evidence: Evidence) -> tuple[Turn, ...]:
    """Return the conversation with the answer that it led to, unless it ends with that."""
    turns, answer = evidence.conversation, evidence.answer
    if not answer or (turns and turns[-1].text == answer):
        return turns
    return (*turns, Turn(role=EARLIER_ANSWER, text=answer))


def _joined(earlier: Evidence, new: Evidence, cut: Cut) -> Evidence:
    return replace(
        new,
        conversation=earlier.conversation + new.conversation,
        calls=earlier.calls + new.calls,
        cut=cut,
    )
