"""A mission as two records: what stays, and its words, which can be erased."""

from __future__ import annotations

from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.mission.erasing import without_words
from sureline.core.mission.plain import plain, restored
from sureline.core.values.mission import Mission, Tally
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.strict_json import strict_json

VERSION = 1
"""Of both records."""
_WORDS = ("objective", "criteria", "evidence", "tally", "subject")
_OF_LAST = ("reasoning", "progress")


def mission_record(mission: Mission) -> tuple[bytes, bytes | None]:
    """Return the record of codes and figures, and that of words, None if they are erased.

    Raises InvalidInput for what JSON cannot say, ValueError for a moment without its zone.
    """
    stays = plain(without_words(mission) if mission.erased else mission)
    words: dict[str, Any] = {name: stays.pop(name) for name in _WORDS}
    last = stays["last"]
    words |= {name: None if last is None else last.pop(name) for name in _OF_LAST}
    stays["v"] = words["v"] = VERSION
    return canonical_json(stays), None if mission.erased else canonical_json(words)


def mission_from_record(stays: bytes, words: bytes | None) -> Mission:
    """Return the mission of two records. Raises ValueError, TypeError where it cannot be read."""
    values, said = _read(stays), _empty() if words is None else _read(words)
    if values.get("erased") is not (words is None):
        raise ValueError("words of an erased mission, or none of another")
    of_last = {name: said.pop(name, None) for name in _OF_LAST}
    if isinstance(values.get("last"), dict):
        values["last"] |= of_last
    return restored(Mission, {**values, **said})


def standing(stays: bytes) -> tuple[Any, Any] | None:
    """Return the state and the cause that a record says, None where it cannot be read."""
    try:
        values = _read(stays)
    except (ValueError, TypeError):
        return None
    return values.get("state"), values.get("cause")


def _read(record: bytes) -> dict[str, Any]:
    data = strict_json(record)
    if not isinstance(data, dict) or data.pop("v", None) != VERSION:
        raise ValueError("another version")
    return data


def _empty() -> dict[str, Any]:
    return {
        "objective": "",
        "criteria": [],
        "evidence": plain(Evidence()),
        "tally": plain(Tally()),
        "subject": None,
    }
