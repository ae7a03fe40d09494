"""What people said of the most similar past cases, as a signal (G8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sureline.core.values.policy import HistoryPolicy
from sureline.core.values.signal import Signal, SignalKind

NAME = "history"

LEAST_SPREAD = 0.02
"""Similarities to all cases that vary less than this (standard deviation) do not discriminate.

A template with nothing but a case number in it gave spreads of .0004 to .012 with either
embedder, and its nearest cases were no better than chance; the same templates with an invoice's
fields gave .029 and more, and .98 of the nearest cases were of the same vendor
(docs/explanation/history.md).
"""


class _Neighbour(Protocol):
    @property
    def decision_id(self) -> str: ...
    @property
    def similarity(self) -> float: ...
    @property
    def approved(self) -> bool: ...


class _Neighbourhood(Protocol):
    @property
    def neighbours(self) -> Sequence[_Neighbour]: ...
    @property
    def cases(self) -> int: ...
    @property
    def spread(self) -> float | None: ...


def fewest_neighbours(policy: HistoryPolicy) -> int:
    """Return how many distinct cases above the floor it takes to state a rate: half of K.

    One verdict, or one text submitted ten times, is no rate: an agent could collect approvals
    for a harmless text and lean on them.
    """
    return max(1, math.ceil(policy.neighbours / 2))


def history_signal(neighbourhood: _Neighbourhood, policy: HistoryPolicy) -> Signal:
    """Return the approval rate of the nearest past cases, or why there is none.

    `not_applicable`: `too_few` (the slice has fewer than K verdicts), `novel` (nothing, or fewer
    than half of K distinct cases, reaches the similarity floor), `uninformative` (everything is
    about equally similar). `failed(bad_similarity)`: the search gave something that is no number.
    It is never a default value: no verdicts, no number.
    """
    if neighbourhood.cases < policy.neighbours:
        return _none("too_few", {"cases": neighbourhood.cases, "needed": policy.neighbours})
    spread = neighbourhood.spread
    similarities = [near.similarity for near in neighbourhood.neighbours]
    if spread is None or not all(map(math.isfinite, (spread, *similarities))):
        return Signal.failed(NAME, SignalKind.HISTORICAL, "bad_similarity")
    near = [
        neighbour
        for neighbour in neighbourhood.neighbours
        if neighbour.similarity >= policy.similarity_floor
    ][: policy.neighbours]
    figures = {
        "cases": neighbourhood.cases,
        "above_floor": len(near),
        "floor": policy.similarity_floor,
        "spread": round(spread, 4),
        "nearest": round(max(similarities, default=-1.0), 4),
    }
    if near and spread < LEAST_SPREAD:
        return _none("uninformative", figures)
    if len(near) < fewest_neighbours(policy):
        return _none("novel", figures | {"needed": fewest_neighbours(policy)})
    approved = sum(neighbour.approved for neighbour in near)
    return Signal.measured(
        NAME, SignalKind.HISTORICAL, approved / len(near), detail=figures | _seen(near, approved)
    )


def _seen(near: Sequence[_Neighbour], approved: int) -> dict[str, Any]:
    return {
        "approved": approved,
        "neighbours": [neighbour.decision_id for neighbour in near],
        "similarities": [round(neighbour.similarity, 4) for neighbour in near],
        "verdicts": [neighbour.approved for neighbour in near],
    }


def _none(reason: str, figures: Mapping[str, Any]) -> Signal:
    return Signal.not_applicable(NAME, SignalKind.HISTORICAL, reason, detail=figures)
