"""What the signals say together."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.values.certificate import Scale
from sureline.core.values.signal import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A signal that should be there and is not: its name and why (a code)."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """All signals, composed into one number in [0, 1].

    `composite` is None when no weighted signal was measured; `calibrated` is None where nothing
    is calibrated, and `extrapolated` where no label was as low or as high. `fatal` says that a
    fatal check failed, `unreadable` that the output could not even be parsed. `missing` adds a
    person (G15); `young` are signals left out because the slice has too few verdicts yet, which
    keeps the slice from automating but not from being composed. `if_trusted` is what `value` would
    be if the agent's sources were trusted, None where that makes no difference; it can only bring a
    person instead of a rejection, and is compared with nothing that automates.
    """

    signals: tuple[Signal, ...]
    composite: float | None
    calibrated: float | None = None
    extrapolated: bool = False
    fatal: bool = False
    unreadable: bool = False
    missing: tuple[Missing, ...] = ()
    young: tuple[Missing, ...] = ()
    if_trusted: float | None = None

    @property
    def value(self) -> float | None:
        """Return the number that routing compares: calibrated where there is one."""
        return self.composite if self.calibrated is None else self.calibrated

    def on(self, scale: Scale) -> float | None:
        """Return the number on a scale, None where there is none."""
        return self.composite if scale is Scale.COMPOSITE else self.calibrated

    def signal(self, name: str) -> Signal | None:
        """Return the signal with this name, or None."""
        return next((signal for signal in self.signals if signal.name == name), None)
