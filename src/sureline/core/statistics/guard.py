"""The guard: an anytime-valid test that audited precision is still at its target (L4).

A mixture of tests that begin anew every 210 audited labels, so that a long good record does not
hide a fall: the j-th restart (from 0) has weight 1 / ((j + 1)(j + 2)), and the weight of those to
come is kept as cash. While precision is at or above the target, the chance that the evidence E
*ever* reaches 1 / alpha is at most alpha, however often one looks (Ville's inequality).

What is proven, and what it assumes, is docs/explanation/guard.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sureline.core.statistics.binomial import check_level
from sureline.core.statistics.guard_evidence import Floats, log_evidence
from sureline.errors import InvalidInput

EVERY = 210
"""Audited labels after which a test begins anew."""
KEPT = 256
"""Restarts that are kept: the first and the latest 255. Forgetting one only lowers the evidence,
so the guarantee stands, and neither time nor memory grows beyond this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The restart `number` (from 0) began after `labels` audited labels, `errors` of them wrong."""

    number: int = 0
    labels: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardState:
    """All that the guard remembers: counts, no label.

    `labels` audited in all, `errors` of them wrong. `peak` is the highest evidence seen so far,
    in nats: evidence that has reached the limit once counts, even if it fell again.
    """

    target: float
    labels: int = 0
    errors: int = 0
    restarts: tuple[Restart, ...] = (Restart(),)
    peak: float = 0.0

    def __post_init__(self) -> None:
        check_level(self.target, 0.5)
        if not self._is_possible():
            raise InvalidInput("expected counts that rise from restart to restart", field="guard")

    def _is_possible(self) -> bool:
        """Tell whether the counts can have come about."""
        now = Restart(number=2**63, labels=self.labels, errors=self.errors)
        return (
            self.restarts[:1] == (Restart(),)
            and math.isfinite(self.peak)
            and all(_may_follow(a, b) for a, b in itertools.pairwise((*self.restarts, now)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardReading:
    """What the guard says, with the figures that a person needs.

    `evidence` now, `peak` ever and `limit` = ln(1 / alpha) are in nats. `since_label` is the
    number of labels before the restart that speaks loudest; `labels`, `errors` and `precision`
    count from there on (precision is None without labels).
    """

    tripped: bool
    evidence: float
    peak: float
    limit: float
    since_label: int
    labels: int
    errors: int
    precision: float | None


def update(state: GuardState, correct: bool) -> GuardState:
    """Return the state after one more audited label; labels come in the order of recording."""
    return observe(state, 1, 0 if correct else 1)


def update_all(state: GuardState, correct: Iterable[bool]) -> GuardState:
    """Return the state after more audited labels, in the order of recording."""
    for one in correct:
        state = update(state, one)
    return state


def observe(state: GuardState, labels: int, errors: int) -> GuardState:
    """Return the state after `labels` more audited labels, `errors` of them wrong.

    For counts by day or week, in order of time: evidence is then looked at between the batches
    only, and a test begins anew with the first batch after 210 labels. Raises InvalidInput for
    impossible counts.
    """
    if not 0 <= errors <= labels:
        raise InvalidInput(f"expected 0 to {labels} errors, got {errors}", field="errors")
    if not labels:
        return state
    after = replace(
        state,
        labels=state.labels + labels,
        errors=state.errors + errors,
        restarts=_restarts(state),
    )
    return replace(after, peak=max(after.peak, evidence(after)))


def evidence(state: GuardState) -> float:
    """Return ln E, in nats: 0 at the start, negative while all is well."""
    cash = -math.log(state.restarts[-1].number + 2)
    return float(np.logaddexp(np.logaddexp.reduce(_by_restart(state)), cash))


def trips(state: GuardState, alpha: float) -> bool:
    """Tell whether E has ever reached 1 / alpha, alpha strictly between 0 and 1.

    Only a person resets it, by beginning with a new state.
    """
    return state.peak >= _limit(alpha)


def read_guard(state: GuardState, alpha: float) -> GuardReading:
    """Return what the state says at `alpha`."""
    loudest = state.restarts[int(np.argmax(_by_restart(state)))]
    labels, errors = state.labels - loudest.labels, state.errors - loudest.errors
    return GuardReading(
        tripped=trips(state, alpha),
        evidence=evidence(state),
        peak=state.peak,
        limit=_limit(alpha),
        since_label=loudest.labels,
        labels=labels,
        errors=errors,
        precision=1 - errors / labels if labels else None,
    )


def guard_json(state: GuardState) -> dict[str, object]:
    """Return the state as a JSON object; restarts are [number, labels, errors]."""
    return {
        "target": state.target,
        "labels": state.labels,
        "errors": state.errors,
        "restarts": [[one.number, one.labels, one.errors] for one in state.restarts],
        "peak": state.peak,
    }


def guard_from_json(value: Mapping[str, object]) -> GuardState:
    """Read what `guard_json` wrote. Raises InvalidInput for anything else."""
    restarts = value.get("restarts")
    if not isinstance(restarts, Sequence) or isinstance(restarts, str):
        raise InvalidInput("expected a list of restarts", field="guard")
    return GuardState(
        target=_number(value, "target"),
        labels=_whole(value.get("labels")),
        errors=_whole(value.get("errors")),
        restarts=tuple(_restart(one) for one in restarts),
        peak=_number(value, "peak"),
    )


def _restarts(state: GuardState) -> tuple[Restart, ...]:
    """Return the restarts that the next labels count for."""
    last = state.restarts[-1]
    if state.labels - last.labels < EVERY:
        return state.restarts
    begun = Restart(number=last.number + 1, labels=state.labels, errors=state.errors)
    first, *rest = state.restarts
    return (first, *rest[-(KEPT - 2) :], begun)


def _by_restart(state: GuardState) -> Floats:
    """Return each restart's weighted evidence, in nats."""
    starts = np.asarray([(one.number, one.labels, one.errors) for one in state.restarts])
    number, labels, errors = starts.T
    each = log_evidence(state.errors - errors, state.labels - labels, state.target)
    weighted: Floats = each - np.log((number + 1.0) * (number + 2.0))
    return weighted


def _limit(alpha: float) -> float:
    if not 0.0 < alpha < 1.0:
        raise InvalidInput(f"expected a number between 0 and 1, got {alpha}", field="alpha")
    return -math.log(alpha)


def _may_follow(before: Restart, after: Restart) -> bool:
    labels, errors = after.labels - before.labels, after.errors - before.errors
    return 0 <= errors <= labels and before.number < after.number


def _restart(value: object) -> Restart:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 3:
        raise InvalidInput("expected [number, labels, errors] for each restart", field="guard")
    number, labels, errors = (_whole(one) for one in value)
    return Restart(number=number, labels=labels, errors=errors)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"expected a whole number, got {value!r}", field="guard")
    return value


def _number(value: Mapping[str, object], key: str) -> float:
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InvalidInput(f"expected a number, got {found!r}", field=f"guard.{key}")
    return float(found)
