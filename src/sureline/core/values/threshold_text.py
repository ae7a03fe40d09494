"""Write a threshold so that whoever reads it and uses what is written is on the safe side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal

_DIGITS = 4


def threshold_text(threshold: float) -> str:
    """Return a threshold in [0, 1] with few digits, never below the threshold itself.

    Four decimals do in the middle; near 1 there are as many as it takes to tell two digits of the
    distance to 1 (0.99961), near 0 as many as it takes for four digits. 0 and 1 are themselves.
    """
    if threshold in {0, 1}:
        return f"{threshold:g}"
    exact = Decimal(repr(float(threshold)))
    to_one = 1 - _exponent(1 - threshold)
    to_zero = _DIGITS - 1 - _exponent(threshold)
    places = max(_DIGITS, to_one, to_zero)
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING)
    whole, _, decimals = f"{rounded:f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(_DIGITS, '0')}"


def _exponent(distance: float) -> int:
    return math.floor(math.log10(distance)) if distance > 0 else 0
