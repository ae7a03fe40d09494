"""How probable the generator found its own tokens: the signal `token_probability` (G12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sureline.core.values.signal import Signal, SignalKind

NAME = "token_probability"

ROUNDING = 1e-6
"""A log-probability this far above 0 is rounding: providers work in 32-bit floats, where that of a
certain token may come out as 1e-7. What is further above is no log-probability."""

LEAST = -1e300
"""What is below counts as this: both are a probability of 0."""


def token_probability(logprobs: Sequence[object]) -> Signal:
    """Return the geometric mean of the tokens' probabilities, exp(mean(log p)), in [0, 1].

    `logprobs` are natural logarithms, one per token of the output. The detail has the number of
    tokens and the probability of the least likely one. One that is no finite number at most 0
    (booleans are none) fails the signal: `not_a_number`, `not_finite`, `above_zero`; none at all
    is `not_applicable(no_tokens)`.
    """
    if not logprobs:
        return Signal.not_applicable(NAME, SignalKind.SELF_REPORT, "no_tokens")
    known = []
    for index, one in enumerate(logprobs):
        read = _read(one)
        if isinstance(read, str):
            detail: dict[str, Any] = {"tokens": len(logprobs), "at": index}
            return Signal.failed(NAME, SignalKind.SELF_REPORT, read, detail=detail)
        known.append(read)
    # Divided first: a sum of huge figures would overflow, and of the hugest even so.
    mean = math.fsum(one / len(known) for one in known)
    detail = {"tokens": len(known), "lowest": round(math.exp(min(known)), 6)}
    value = round(math.exp(mean), 12)
    return Signal.measured(NAME, SignalKind.SELF_REPORT, value, detail=detail)


def _read(one: object) -> float | str:
    """Return a log-probability, at most 0, or the code of what is wrong with it."""
    if isinstance(one, bool) or not isinstance(one, (int, float)):
        return "not_a_number"
    if one > ROUNDING:
        return "not_finite" if one == math.inf else "above_zero"
    try:
        number = float(one)
    except OverflowError:  # a whole number beyond all floats
        return "not_finite"
    return min(max(number, LEAST), 0.0) if math.isfinite(number) else "not_finite"
