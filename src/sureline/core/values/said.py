"""What opinions said of outputs, as decisions keep it for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sureline.core.values.opinion_use import (
    AGAINST,
    ANSWERED,
    detail_of,
    end_of,
    is_opinion,
    members_of,
)
from sureline.core.values.signal import unit_interval_fault

OTHER_OPINIONS = frozenset({"consistency", "token_probability"})
"""Opinions that come without a model's card where the caller brought them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One opinion as it was recorded.

    `chance` in [0, 1] is the chance of being right that it stands for: a judge's confidence where
    it agreed, one minus that where it did not, else the signal's value. `against` says that it
    spoke against the output. `model` is the id that answered, None for no model or for several.
    """

    signal: str
    chance: float
    against: bool
    model: str | None


def said_in(body: bytes) -> Iterator[Said]:
    """Yield the opinions that a decision's lasting JSON holds, those that were answered.

    Of a panel come what it said together and what each of its judges said, under the signal's
    name and the judge's.
    """
    try:
        signals = orjson.loads(body)["signals"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    for name, entry in signals:
        if not isinstance(entry, Mapping) or not (is_opinion(entry) or name in OTHER_OPINIONS):
            continue
        yield from _said(name, entry)
        for member in members_of(entry):
            yield from _said(f"{name} {member['detail'].get('asked')}", member)


def _said(name: str, entry: Mapping[str, Any]) -> Iterator[Said]:
    end, model = end_of(entry), detail_of(entry).get("model")
    against = end in AGAINST
    chance = _chance(entry, against=against)
    if end in ANSWERED and chance is not None:
        yield Said(
            signal=name,
            chance=chance,
            against=against,
            model=model if isinstance(model, str) else None,
        )


def _chance(entry: Mapping[str, Any], *, against: bool) -> float | None:
    confidence: Any = detail_of(entry).get("confidence")
    value: Any = entry.get("value")
    if unit_interval_fault(confidence) is None:
        return 1.0 - confidence if against else float(confidence)
    return None if unit_interval_fault(value) else float(value)
