"""One opinion as it is counted: how it ended, whose it was, and what it took (L5).

It is read from the lasting JSON of a decision, so that counts kept while deciding and counts made
anew from the ledger cannot differ.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import orjson

from sureline.core.values.signal import Signal, SignalKind, SignalState, unit_interval_fault

HALF = 0.5
"""A value below this speaks against the output."""
REFUTED = "refuted"
MILLION = 1_000_000
UNTIMED = -1
"""The place of an opinion of unknown duration among the durations."""
DURATIONS = tuple(round(2 ** (place / 2)) for place in range(41))
"""Upper ends of the duration classes in milliseconds: each 1.4 times the one before, to 17 min."""

FIGURES = (
    "count",
    "value",
    "valued",
    "cost",
    "costed",
    "ms",
    "timed",
    "input_tokens",
    "output_tokens",
    "metered",
    "calls",
    "retries",
    "cached",
)
"""What is summed of each kind of opinion; OpinionSums says what each one is."""

_ONE = (1,) + (0,) * (len(FIGURES) - 1)
_MOST = 2**53
_CODE = re.compile(r"[a-z0-9_.\-]{1,48}", re.ASCII | re.IGNORECASE)
_NAME = 160
_SIGNS = (b'"kind":"judge"', b'"asked":')
"""What the JSON of a decision holds if a model gave an opinion on it."""


class End(StrEnum):
    """How an opinion ended."""

    AGREED = "agreed"
    """Measured, and not against the output."""
    DISAGREED = "disagreed"
    """Measured with a value below one half, without being a judge's firm refutation."""
    REFUTED = "refuted"
    """A judge disagreed firmly."""
    INCONCLUSIVE = "inconclusive"
    """A judge disagreed, but not firmly enough to count."""
    FAILED = "failed"
    """It was asked for, and there is none; the reason says why."""
    NOT_APPLICABLE = "not_applicable"
    """It has nothing to say about this output; the reason says why."""
    NOT_SAMPLED = "not_sampled"
    """It was left out by design."""


ANSWERED = frozenset({End.AGREED, End.DISAGREED, End.REFUTED, End.INCONCLUSIVE})
ASKED = ANSWERED | {End.FAILED}
AGAINST = frozenset({End.DISAGREED, End.REFUTED, End.INCONCLUSIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionKey:
    """What opinions are counted by.

    `asked` is the policy's name of the model, `answered` the id that it gave, both empty where
    that is not known. `reason` is a code, empty where there is none. `duration` is the place of
    its duration class in DURATIONS, -1 where that is not known.
    """

    signal: str
    asked: str
    answered: str
    end: End
    reason: str
    duration: int


def uses_in(body: bytes) -> Iterator[tuple[OpinionKey, tuple[int, ...]]]:
    """Yield each opinion of a decision's lasting JSON with its figures, in the order of FIGURES.

    Counted is every signal of kind judge, and every one with a model's card; of a panel, each of
    its judges with what it took, and what they came to together. A decision without any costs a
    search of its bytes; what is no decision's JSON has none.
    """
    if not any(sign in body for sign in _SIGNS):
        return
    try:
        signals = orjson.loads(body)["signals"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    for name, entry in signals:
        if not isinstance(entry, Mapping) or not is_opinion(entry):
            continue
        if entry.get("state") == SignalState.NOT_SAMPLED:
            yield _left_out(str(name)[:_NAME]), _ONE
        else:
            yield from _uses(str(name)[:_NAME], entry)


def uses_of(signals: Iterable[Signal]) -> Iterator[tuple[OpinionKey, tuple[int, ...]]]:
    """Yield the opinions among signals as `uses_in` does for their JSON."""
    for signal in signals:
        entry = {
            "state": signal.state,
            "value": signal.value,
            "kind": signal.kind,
            "reason": signal.reason,
            "detail": signal.detail,
        }
        if is_opinion(entry):
            yield from _uses(signal.name[:_NAME], entry)


def end_of(entry: Mapping[str, Any]) -> End:
    """Tell how the opinion of a signal's JSON ended; what cannot be read has failed."""
    state, value = entry.get("state"), entry.get("value")
    if state == SignalState.NOT_SAMPLED:
        return End.NOT_SAMPLED
    if state == SignalState.NOT_APPLICABLE:
        inconclusive = entry.get("reason") == End.INCONCLUSIVE
        return End.INCONCLUSIVE if inconclusive else End.NOT_APPLICABLE
    if value is None or state != SignalState.MEASURED or unit_interval_fault(value):
        return End.FAILED
    if detail_of(entry).get("verdict") == REFUTED:
        return End.REFUTED
    return End.AGREED if value >= HALF else End.DISAGREED


def detail_of(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the detail of a signal's JSON, empty where there is none."""
    detail = entry.get("detail")
    return detail if isinstance(detail, Mapping) else {}


def members_of(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what each judge of a panel said, in the form of a signal's JSON; none for no panel.

    Which disagreement is firm is the panel's to say, not its judges'.
    """
    cards = detail_of(entry).get("cards")
    for card in cards if isinstance(cards, list | tuple) else ():
        if not isinstance(card, Mapping):
            continue
        agrees = card.get("agrees")
        said = isinstance(agrees, bool)
        yield {
            "state": SignalState.MEASURED if said else SignalState.FAILED,
            "value": float(agrees) if isinstance(agrees, bool) else None,
            "kind": SignalKind.JUDGE,
            "reason": None if said else card.get("reason"),
            "detail": card,
        }


def is_opinion(entry: Mapping[str, Any]) -> bool:
    """Tell whether a signal's JSON is a model's opinion: of kind judge, or with a model's card."""
    return entry.get("kind") == SignalKind.JUDGE or "asked" in detail_of(entry)


@lru_cache(maxsize=64)
def _left_out(name: str) -> OpinionKey:
    """Return what most outputs of a judged slice count as."""
    return OpinionKey(
        signal=name, asked="", answered="", end=End.NOT_SAMPLED, reason="", duration=UNTIMED
    )


def _uses(name: str, entry: Mapping[str, Any]) -> Iterator[tuple[OpinionKey, tuple[int, ...]]]:
    members = list(members_of(entry))
    if members:
        together = {"asked": f"panel of {len(members)}"}
        verdict = detail_of(entry).get("verdict")
        entry = {**entry, "detail": {**together, "verdict": verdict}}
    yield _use(name, entry)
    for member in members:
        yield _use(name, member)


def _use(name: str, entry: Mapping[str, Any]) -> tuple[OpinionKey, tuple[int, ...]]:
    detail, end = detail_of(entry), end_of(entry)
    cached = detail.get("cached") is True
    ms = None if cached else _whole(detail.get("ms"))
    key = OpinionKey(
        signal=name,
        asked=_name(detail.get("asked")),
        answered=_name(detail.get("model")),
        end=end,
        reason=_reason(entry.get("reason")) if end in {End.FAILED, End.NOT_APPLICABLE} else "",
        duration=UNTIMED if ms is None else min(bisect_left(DURATIONS, ms), len(DURATIONS) - 1),
    )
    value = entry.get("value") if end in ANSWERED and end is not End.INCONCLUSIVE else None
    cost = 0 if cached else _micros(detail.get("cost"))
    inputs, outputs = _whole(detail.get("input_tokens")), _whole(detail.get("output_tokens"))
    return key, (
        1,
        0 if value is None else round(value * MILLION),
        int(value is not None),
        cost or 0,
        int(cost is not None),
        ms or 0,
        int(ms is not None),
        inputs or 0,
        outputs or 0,
        int(inputs is not None and outputs is not None),
        _whole(detail.get("calls")) or 0,
        _whole(detail.get("retries")) or 0,
        int(cached),
    )


def _reason(found: Any) -> str:
    """Return a reason that is a code; a plug-in's free words would make as many kinds."""
    return found if isinstance(found, str) and _CODE.fullmatch(found) else "other"


def _name(found: Any) -> str:
    return found[:_NAME] if isinstance(found, str) else ""


def _whole(found: Any) -> int | None:
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < _MOST:
        return None
    return found


def _micros(dollars: Any) -> int | None:
    """Return US dollars in millionths; None for what is no amount, never 0."""
    if isinstance(dollars, bool) or not isinstance(dollars, int | float):
        return None
    if not math.isfinite(dollars) or not 0 <= dollars < MILLION:
        return None
    return round(dollars * MILLION)
