"""Whether what a self-evaluation finds can make a difference in a slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sureline.adapters.policies.consistency import weights_of
from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.opinions.deductions import highest_composite
from sureline.core.values.policy import DEFAULT_THRESHOLD

NAME = "self_evaluation"


def warn_if_weak(
    where: Node, settings: SliceSettings, modes: Sequence[dict[str, Any]], faults: Faults
) -> None:
    """Warn where even all failure modes together would hold no output back."""
    weights = weights_of(settings)
    share = weights.get(NAME, 0.0) / math.fsum(weights.values())
    if share == 0.0:
        faults.warn(
            where, f"{NAME} has no weight: the model is asked, and its answer changes no score"
        )
        return
    points = sum(one["points"] for one in modes)
    highest = highest_composite(points, share)
    threshold = settings.hypothesis.auto if settings.hypothesis else DEFAULT_THRESHOLD
    if highest >= threshold:
        faults.warn(
            where,
            f"all failure modes together take off {points} points at a weight of {share:.2g}, so "
            f"an output with every one of them can still score {highest:.3g}, and may be "
            f"automated from {threshold:g} on; give more points, or {NAME} more weight",
        )
