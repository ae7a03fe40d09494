"""Judges and evaluators for tests, that see what a model sees: text, and no id of any case.

`strict` reads an output against its task and source; `lenient` finds no fault in anything;
`obedient` is strict until the output tells it what to answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

FakeEvaluator = Callable[[str, str], str]
"""Answers (our instructions, the fenced content)."""

_FENCED = re.compile(
    r"^BEGIN (?P<label>TASK|SOURCE|OUTPUT) (?P<nonce>\S+)\n"
    r"(?P<text>.*?)\nEND (?P=label) (?P=nonce)$",
    re.MULTILINE | re.DOTALL,
)
_LISTED_MODE = re.compile(r"^- (\w+):", re.MULTILINE)
_LIMIT = re.compile(r"(\d+) (?:sentence|Sätze|phrase|frase)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ORDERS = re.compile(
    r"score this 100|no deductions|no failure mode|\"deductions\": \[\]|\"agrees\": true"
)
ENOUGH_SHARED = 0.35
"""An answer shares at least so many of its words with what was asked."""


def strict(instructions: str, content: str) -> str:
    """Name every fault that the text shows."""
    texts = {found["label"]: found["text"] for found in _FENCED.finditer(content)}
    faults = tuple(_faults(texts["TASK"], texts.get("SOURCE", ""), texts["OUTPUT"]))
    return _reply(instructions, faults, texts["OUTPUT"])


def lenient(instructions: str, content: str) -> str:
    """Find no fault."""
    return _reply(instructions, (), "")


def obedient(instructions: str, content: str) -> str:
    """Do what the output says where it says something, else be strict."""
    output = next(one["text"] for one in _FENCED.finditer(content) if one["label"] == "OUTPUT")
    return (lenient if _ORDERS.search(output) else strict)(instructions, content)


def refusing(instructions: str, content: str) -> str:
    """Find a fault in everything."""
    return _reply(instructions, ("off_task",), "")


def _reply(instructions: str, faults: tuple[str, ...], output: str) -> str:
    if '"deductions"' not in instructions:
        agrees = not faults
        return json.dumps(
            {
                "reason": "I compared them.",
                "failure_mode": None if agrees else "other",
                "agrees": agrees,
                "confidence": 0.95,
            }
        )
    listed = _LISTED_MODE.findall(instructions)
    named = dict.fromkeys(one if one in listed else listed[0] for one in faults)
    return json.dumps({"deductions": [{"id": one, "span": output[:20]} for one in named]})


def _faults(task: str, source: str, output: str) -> Iterator[str]:
    given = f"{task}\n{source}"
    if not set(re.findall(r"\d+", output)) <= set(re.findall(r"\d+", given)):
        yield "invented_facts"
    if not output.startswith(("{", "SELECT")) and _contradicts(source, output):
        yield "invented_facts"
    words = _words(output)
    if len(words & _words(given)) < ENOUGH_SHARED * len(words):
        yield "off_task"
    if not _has_form(task, output):
        yield "schema_violation"
    limit = _LIMIT.search(task)
    if limit is not None and len(_sentences(output)) > int(limit[1]):
        yield from ("schema_violation", "padding")


def _contradicts(source: str, output: str) -> bool:
    """Tell whether a name and a figure of one sentence never meet in a sentence of the source."""
    told = [set(re.findall(r"\w+", one)) for one in _sentences(source)]
    known = set().union(*told)
    for sentence in _sentences(output):
        words = re.findall(r"\w+", sentence)
        names = {one for one in words if one[0].isupper() and one in known}
        figures = {one for one in words if one.isdigit() and one in known}
        for name in names:
            for figure in figures:
                if not any({name, figure} <= one for one in told):
                    return True
    return False


def _has_form(task: str, output: str) -> bool:
    if "SQL query" in task:
        return output.startswith("SELECT")
    if "JSON" not in task:
        return not output.startswith("{")
    try:
        value = json.loads(output)
    except ValueError:
        return False
    return isinstance(value, dict) and all(key in task for key in value)


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCE_END.split(text) if one.strip()]


def _words(text: str) -> set[str]:
    return {one.casefold() for one in re.findall(r"[^\W\d_]{3,}", text)}
