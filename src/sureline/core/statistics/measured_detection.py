"""How many planted errors people noticed, where a slice may have too few of its own."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.statistics.attention import Detection

ENOUGH = 14
"""So many planted errors of its own, and a slice is judged by them alone.

All of them noticed show, with 95 % confidence, that at least 80 % are.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDetection:
    """What is known of how many errors people notice in a slice.

    `own` are its own planted errors, `used` those that figures rest on: its own, or where they are
    fewer than `ENOUGH` those of all slices, `pooled`. Which of the two depends on how many were
    shown, never on how many were noticed. Pooling assumes that people look alike everywhere.
    """

    own: Detection
    used: Detection
    pooled: bool

    @classmethod
    def of(cls, own: Detection, everywhere: Detection) -> MeasuredDetection:
        """Choose between a slice's planted errors and those of all slices, itself among them."""
        pooled = own.shown < ENOUGH and everywhere.shown > own.shown
        return cls(own=own, used=everywhere if pooled else own, pooled=pooled)

    @classmethod
    def of_nothing(cls) -> MeasuredDetection:
        """Return what is known before anything was shown."""
        return cls.of(Detection.of_nothing(), Detection.of_nothing())
