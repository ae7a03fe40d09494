"""Labels as counts: all that calibration needs of them."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.values.stratum import LabelStratum


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCount:
    """How many labelled decisions of a slice share a score bin, a stratum and a correctness.

    The bin is that of the composite, before any calibration.
    """

    score_bin: int
    stratum: LabelStratum
    correct: bool
    count: int
