"""Calibration maps as JSON values: how they are stored and shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sureline.core.statistics.calibration import CalibrationMap, Unfitted
from sureline.core.statistics.hierarchical import SliceMap
from sureline.core.statistics.isotonic import Isotonic
from sureline.core.statistics.platt import Platt
from sureline.errors import InvalidInput

BLEND, SHIFTED, UNFITTED = "blend", "shifted", "unfitted"


def map_to_json(fitted: CalibrationMap | SliceMap | Unfitted) -> dict[str, Any]:
    """Return a map as JSON values; `map_from_json` reads it back to the same figures."""
    if isinstance(fitted, Unfitted):
        return {"kind": UNFITTED, "reason": fitted.reason, "n": fitted.n}
    if isinstance(fitted, SliceMap):
        return {
            "kind": SHIFTED,
            "shared": map_to_json(fitted.shared),
            "offset": fitted.offset,
            "slope": fitted.slope,
            "n": fitted.n,
        }
    return {
        "kind": BLEND,
        "platt": {"intercept": fitted.platt.intercept, "slope": fitted.platt.slope},
        "isotonic": {
            "knots": fitted.isotonic.knots.tolist(),
            "levels": fitted.isotonic.levels.tolist(),
        },
        "isotonic_share": fitted.isotonic_share,
        "low": fitted.low,
        "high": fitted.high,
        "n": fitted.n,
    }


def map_from_json(entry: Mapping[str, Any]) -> CalibrationMap | SliceMap | Unfitted:
    """Read a map as `map_to_json` writes it.

    Raises InvalidInput where it is damaged: a missing or unknown key, a figure that is no finite
    number, a curve that falls or leaves (0, 1). A broken map must not decide anything.
    """
    try:
        return _read(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"not a calibration map: {error!r}") from error


def _read(entry: Mapping[str, Any]) -> CalibrationMap | SliceMap | Unfitted:
    kind = entry["kind"]
    if kind == UNFITTED:
        return Unfitted(reason=str(entry["reason"]), n=_count(entry["n"]))
    if kind == SHIFTED:
        shared = _read(entry["shared"])
        if not isinstance(shared, CalibrationMap):
            raise InvalidInput("not a calibration map: the shared one is none")
        return SliceMap(
            shared=shared,
            offset=_number(entry["offset"]),
            slope=_number(entry["slope"], least=0.0),
            n=_count(entry["n"]),
        )
    if kind == BLEND:
        return _blend(entry)
    raise InvalidInput(f"not a calibration map: unknown kind {kind!r}")


def _blend(entry: Mapping[str, Any]) -> CalibrationMap:
    knots = np.array([_share(one) for one in entry["isotonic"]["knots"]])
    levels = np.array([_share(one) for one in entry["isotonic"]["levels"]])
    rising = len(knots) == len(levels) > 0 and (np.diff(knots) > 0).all()
    if not rising or (np.diff(levels) < 0).any() or levels[0] <= 0 or levels[-1] >= 1:
        raise InvalidInput("not a calibration map: its curve does not rise within (0, 1)")
    low, high = _share(entry["low"]), _share(entry["high"])
    if low > high:
        raise InvalidInput("not a calibration map: its range is empty")
    platt = entry["platt"]
    return CalibrationMap(
        platt=Platt(
            intercept=_number(platt["intercept"]), slope=_number(platt["slope"], least=0.0)
        ),
        isotonic=Isotonic(knots=knots, levels=levels),
        isotonic_share=_share(entry["isotonic_share"]),
        low=low,
        high=high,
        n=_count(entry["n"]),
    )


def _share(value: Any) -> float:
    return _number(value, least=0.0, most=1.0)


def _number(value: Any, *, least: float = -math.inf, most: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"not a calibration map: expected a number, got {value!r}")
    if not least <= value <= most:
        raise InvalidInput(f"not a calibration map: {value!r} is out of range")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"not a calibration map: expected a count, got {value!r}")
    return value
