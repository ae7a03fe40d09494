"""One independent measurement of one output, never a bare float."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sureline.core.values.finding import Finding


class SignalKind(StrEnum):
    """What a signal's value rests on."""

    SELF_REPORT = "self_report"
    """What the generator says of itself."""
    DETERMINISTIC = "deterministic"
    """Checks that always give the same answer."""
    JUDGE = "judge"
    """Another model's opinion."""
    HISTORICAL = "historical"
    """What people said of similar past cases."""
    OBJECTIVE = "objective"
    """Evidence made by tools: builds, tests, scanners."""


class SignalState(StrEnum):
    """How a measurement ended."""

    MEASURED = "measured"
    NOT_SAMPLED = "not_sampled"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"


def unit_interval_fault(value: object) -> str | None:
    """Say why `value` is no number in [0, 1], or None if it is one.

    Booleans, NaN, infinities, text and values out of range each have their own reason code.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "not_a_number"
    if isinstance(value, float) and not math.isfinite(value):
        return "not_finite"
    if not 0.0 <= value <= 1.0:
        return "out_of_range"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A named measurement in one of four states.

    `value` is in [0, 1] when measured and None otherwise; `reason` is a code and is set when not
    measured. `detail` holds figures and identifiers only, never parts of the payload, because it
    stays in the ledger after an erasure; what quotes the payload goes into `findings`.

    Raises ValueError when state, value and reason contradict each other.
    """

    name: str
    kind: SignalKind
    state: SignalState
    value: float | None = None
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if self.state is SignalState.MEASURED:
            fault = unit_interval_fault(self.value)
            if fault:
                raise ValueError(f"signal {self.name}: a measured value is in [0, 1], got {fault}")
        elif self.value is not None:
            raise ValueError(f"signal {self.name}: a {self.state} signal has no value")

    @property
    def is_measured(self) -> bool:
        """Tell whether there is a value."""
        return self.state is SignalState.MEASURED

    @classmethod
    def measured(
        cls,
        name: str,
        kind: SignalKind,
        value: object,
        *,
        detail: Mapping[str, Any] | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> Signal:
        """Make a measured signal of any value; one that is no number in [0, 1] gives `failed`."""
        fault = unit_interval_fault(value)
        if fault:
            return cls.failed(name, kind, fault, detail=detail, findings=findings)
        assert isinstance(value, (int, float))
        return cls(
            name=name,
            kind=kind,
            state=SignalState.MEASURED,
            value=float(value),
            detail=detail or {},
            findings=findings,
        )

    @classmethod
    def failed(
        cls,
        name: str,
        kind: SignalKind,
        reason: str,
        *,
        detail: Mapping[str, Any] | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> Signal:
        """Make a signal whose measurement broke; it never helps an output (G15)."""
        return cls(
            name=name,
            kind=kind,
            state=SignalState.FAILED,
            reason=reason,
            detail=detail or {},
            findings=findings,
        )

    @classmethod
    def not_applicable(
        cls,
        name: str,
        kind: SignalKind,
        reason: str,
        *,
        detail: Mapping[str, Any] | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> Signal:
        """Make a signal that has nothing to say about this output, and say why."""
        return cls(
            name=name,
            kind=kind,
            state=SignalState.NOT_APPLICABLE,
            reason=reason,
            detail=detail or {},
            findings=findings,
        )

    @classmethod
    def not_sampled(cls, name: str, kind: SignalKind) -> Signal:
        """Make a signal that was left out by design; only a judge may be."""
        return cls(name=name, kind=kind, state=SignalState.NOT_SAMPLED, reason="not_sampled")
