"""Compose independent signals into one number (G13-G15)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sureline.core.checks.verification import IF_TRUSTED
from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.values.assessment import Assessment, Missing
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal, SignalState, unit_interval_fault

FATAL_AT = 1e-9
"""A verification at or below this is fatal: sums of penalties leave dust such as 1.4e-16."""

JUDGE, VERIFICATION, HISTORY = "judge", "verification", "history"


def assess(
    signals: Sequence[Signal],
    policy: SlicePolicy,
    *,
    unreadable: bool = False,
    maps: SliceMaps = NO_MAPS,
) -> Assessment:
    """Compose `signals` by the policy's weights.

    The composite is the weighted mean over the measured signals. A fatal verification caps it at
    `policy.fatal_cap`. Losing a signal never helps: every weighted signal that is not measured
    is `missing` (a person decides), except a judge that was not sampled or was inconclusive, and
    a slice that has too few verdicts yet, which is `young`. Verification and a configured judge
    count as missing even without a weight, because either can stop an output. `maps` turn the
    composite into a probability.
    """
    by_name = {signal.name: signal for signal in signals}
    verification = by_name.get(VERIFICATION)
    fatal = unreadable or (
        verification is not None
        and verification.value is not None
        and verification.value <= FATAL_AT
    )
    composite = _weighted_mean(by_name, policy)
    if composite is not None and fatal:
        composite = min(composite, policy.fatal_cap)
    missing, young = _absences(by_name, policy)
    judged = _is_measured(by_name.get(JUDGE))
    believed = None if unreadable else _believed(by_name, policy)
    if_trusted = maps.at(believed, judged=judged)
    return Assessment(
        signals=tuple(signals),
        composite=composite,
        calibrated=maps.at(composite, judged=judged),
        extrapolated=maps.extrapolates(composite, judged=judged),
        fatal=fatal,
        unreadable=unreadable,
        missing=missing,
        young=young,
        if_trusted=believed if if_trusted is None else if_trusted,
    )


def _believed(by_name: dict[str, Signal], policy: SlicePolicy) -> float | None:
    """Return what the composite would be if the agent's sources were trusted; None if it is that.

    None also where a check that must pass failed whatever the sources are.
    """
    verification = by_name.get(VERIFICATION)
    score = None if verification is None else verification.detail.get(IF_TRUSTED)
    if verification is None or not verification.is_measured:
        return None
    if score is None or unit_interval_fault(score) is not None or score <= FATAL_AT:
        return None
    return _weighted_mean({**by_name, VERIFICATION: replace(verification, value=score)}, policy)


def _is_measured(signal: Signal | None) -> bool:
    return signal is not None and signal.is_measured


def _weighted_mean(by_name: dict[str, Signal], policy: SlicePolicy) -> float | None:
    """Return the mean of the measured signals by weight, in [0, 1], or None."""
    terms, weights = [], []
    for name, weight in policy.weights.items():
        signal = by_name.get(name)
        if weight > 0 and signal is not None and signal.value is not None:
            terms.append(weight * signal.value)
            weights.append(weight)
    if not weights:
        return None
    # fsum and rounding to 12 digits make the result independent of the order of the weights.
    mean = round(math.fsum(terms) / math.fsum(weights), 12)
    return min(1.0, max(0.0, mean))


def _absences(
    by_name: dict[str, Signal], policy: SlicePolicy
) -> tuple[tuple[Missing, ...], tuple[Missing, ...]]:
    """Sort what is not measured into missing (adds a person) and young (slice too new)."""
    needed = [name for name, weight in policy.weights.items() if weight > 0]
    if policy.checks.any and VERIFICATION not in needed:
        needed.append(VERIFICATION)
    if policy.judge is not None and JUDGE not in needed:
        needed.append(JUDGE)
    missing: list[Missing] = []
    young: list[Missing] = []
    for name in sorted(needed):
        signal = by_name.get(name)
        if signal is not None and (signal.is_measured or _left_out_by_design(signal)):
            continue
        why = "not_given" if signal is None else signal.reason or str(signal.state)
        target = young if name == HISTORY and why == "too_few" else missing
        target.append(Missing(name=name, why=why))
    return tuple(missing), tuple(young)


def _left_out_by_design(signal: Signal) -> bool:
    """Tell whether this is a judge that was not sampled or did not reach a conclusion."""
    return signal.name == JUDGE and (
        signal.state is SignalState.NOT_SAMPLED
        or (signal.state is SignalState.NOT_APPLICABLE and signal.reason == "inconclusive")
    )
