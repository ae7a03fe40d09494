"""Find the one JSON object in a model's reply, or say why there is none.

Tolerance is for chatter around the object, never for the object itself: a model that comments its
answer is understood, a model that answers almost in JSON is not. Everything takes time linear in
the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.checks.parse import parse_output

MOST_CHARACTERS = 100_000
"""Longer replies are `too_long`."""

_TAG = r"</?(?:think|thinking|thought|reasoning|scratchpad)\b[^<>]{0,60}>|\[/?THINK\]|◁/?think▷"
"""Where a model's reasoning begins or ends, as models write it."""
_LEADING = re.compile(rf"\s*+(?P<tag>{_TAG})", re.IGNORECASE)
_OUTSIDE = re.compile(rf"{{|{_TAG}", re.IGNORECASE)
_TAGS = re.compile(_TAG, re.IGNORECASE)
# Possessive, and the closing quote optional, so that an open text never makes the scan go back.
_INSIDE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]', re.DOTALL)

_HINTS = {
    "too_long": "Your reply is too long. Answer with the JSON object only.",
    "unclosed_reasoning": "Your reasoning does not end. Answer with the JSON object only.",
    "truncated": "The JSON object is not closed.",
    "ambiguous": "There is more than one JSON object. Answer with exactly one.",
    "no_object": "There is no JSON object.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadObject:
    """The object of a reply, or the `fault` (a code) that hides it, with a `hint` for the model.

    `span` is the object as it stands in the reply. A hint may quote the reply.
    """

    fields: dict[str, Any] | None = None
    fault: str | None = None
    hint: str = ""
    span: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """A text from a brace to the brace that closes it, or to the reply's end (not `closed`)."""

    text: str
    closed: bool
    in_reasoning: bool


def read_object(text: str, key: str | None = None) -> ReadObject:
    """Return the one JSON object in a reply, chatter and reasoning around it set aside.

    With a `key`, what does not mention it is chatter too: an object that the model quotes, or
    braces of a piece of code. If no object has the key, the only one there is is returned. Blocks
    of reasoning (`<think>`) before the answer are not looked at; a later one may be a quotation,
    so that what it holds can contradict the answer, but never be it.

    Faults: `no_object`, `truncated` (an object that never closes), `ambiguous` (two that differ),
    `unclosed_reasoning`, `too_long`, and those of `parse_output`: `invalid_json`,
    `duplicate_key`, `non_finite`, `number_too_long`, `too_deep`, `invalid_unicode`. Never raises.
    """
    if len(text) > MOST_CHARACTERS:
        return _fault("too_long")
    groups = _groups(text)
    if groups is None:
        return _fault("unclosed_reasoning")
    return _chosen([_read(one) for one in groups if _mentions(one.text, key)], groups, key)


def _chosen(
    found: Sequence[tuple[_Group, ReadObject]], groups: Sequence[_Group], key: str | None
) -> ReadObject:
    """Return the only answer there is, or why there is not one."""
    broken = next((one for _, one in found if one.fault), None)
    if broken is not None:
        return broken
    keyed = [pair for pair in found if key is None or key in (pair[1].fields or {})]
    if len({canonical_json(one.fields) for _, one in keyed}) > 1:
        return _fault("ambiguous")
    answer = next((one for group, one in keyed if not group.in_reasoning), None)
    if answer is not None:
        return answer
    if len(groups) == 1 and not groups[0].in_reasoning:
        return _read(groups[0])[1]
    return _fault("no_object")


def _groups(text: str) -> list[_Group] | None:
    """Return the groups in braces after the leading reasoning; None if a reasoning is not closed.

    Where a reasoning is closed that was never opened, all before it was reasoning.
    """
    groups: list[_Group] = []
    position, depth, reasoned = _after_reasoning(text), 0, 0
    if position is None:
        return None
    while token := _OUTSIDE.search(text, position):
        position = token.end()
        if token[0] == "{":
            end = _closing(text, token.start())
            position = len(text) if end is None else end
            groups.append(_Group(text[token.start() : position], end is not None, depth > 0))
        elif not _closes(token[0]):
            depth += 1
        elif depth:
            depth -= 1
        else:
            reasoned = len(groups)
    before = [_Group(one.text, one.closed, True) for one in groups[:reasoned]]
    return None if depth else before + groups[reasoned:]


def _after_reasoning(text: str) -> int | None:
    """Return where the answer starts; None if the reasoning before it is not closed."""
    position = 0
    while (token := _LEADING.match(text, position)) and not _closes(token["tag"]):
        end = _end_of_reasoning(_TAGS.finditer(text, token.start("tag")))
        if end is None:
            return None
        position = end
    return position


def _end_of_reasoning(tags: Iterator[re.Match[str]]) -> int | None:
    depth = 0
    for tag in tags:
        depth += -1 if _closes(tag[0]) else 1
        if depth == 0:
            return tag.end()
    return None


def _closes(tag: str) -> bool:
    return tag[1] == "/"


def _closing(text: str, start: int) -> int | None:
    """Return the end of the group that starts at a brace; braces within texts do not count."""
    depth = 0
    for token in _INSIDE.finditer(text, start):
        first = text[token.start()]
        depth += (first == "{") - (first == "}")
        if depth == 0:
            return token.end()
    return None


def _mentions(text: str, key: str | None) -> bool:
    # A key may be written with escapes; then whatever is there may be an answer.
    return key is None or key in text.casefold() or "\\u" in text


def _read(group: _Group) -> tuple[_Group, ReadObject]:
    if not group.closed:
        return group, _fault("truncated")
    parsed = parse_output(group.text)
    if parsed.ok and isinstance(parsed.value, dict):
        return group, ReadObject(fields=parsed.value, span=group.text)
    worst = parsed.findings[-1]
    return group, ReadObject(fault=worst.code, hint=worst.message)


def _fault(code: str) -> ReadObject:
    return ReadObject(fault=code, hint=_HINTS[code])
