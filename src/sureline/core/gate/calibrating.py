"""Apply a calibration: from a composite to a probability of being correct (G18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.core.statistics.bins import score_bin


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceMaps:
    """A slice's calibration maps as tables by score bin (10,001 probabilities each).

    Judged and unjudged outputs have differently distributed composites, so each has its own;
    None where there is none. The ranges are the lowest and highest score that was fitted; outside
    of them the end values hold. Composites are looked up by bin, as they are recorded, so that what
    was certified on recorded bins holds to the last bit.
    """

    unjudged: Sequence[float] | None = None
    judged: Sequence[float] | None = None
    unjudged_range: tuple[float, float] = (0.0, 1.0)
    judged_range: tuple[float, float] = (0.0, 1.0)

    def at(self, composite: float | None, *, judged: bool) -> float | None:
        """Return the probability of being correct, or None without a composite or a map."""
        table = self.judged if judged else self.unjudged
        if composite is None or table is None:
            return None
        return table[score_bin(composite)]

    def extrapolates(self, composite: float | None, *, judged: bool) -> bool:
        """Tell whether there are no labels as low or as high as this composite."""
        if self.at(composite, judged=judged) is None or composite is None:
            return False
        low, high = self.judged_range if judged else self.unjudged_range
        return not score_bin(low) <= score_bin(composite) <= score_bin(high)


NO_MAPS = SliceMaps()
"""What a slice has before it is calibrated."""
