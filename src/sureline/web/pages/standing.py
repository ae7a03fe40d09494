"""Where an output's figure stands: in words that name the scale on which each number is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def standing_of(decision: Mapping[str, Any], *, is_rescored: bool = False) -> str:
    """Return the figure of a recorded decision, its calibration and its threshold, in sentences."""
    composite = decision.get("composite")
    if composite is None:
        return "Nothing could be measured, so there is no figure."
    if is_rescored:
        return f"Together {composite:.3f}, of what could be measured again."
    calibrated, threshold = decision.get("calibrated"), decision.get("threshold")
    said = [f"Together {composite:.3f}."]
    if calibrated is not None:
        said.append(f"Calibrated {calibrated:.3f}: how often outputs like it were right.")
    if threshold is None:
        said.append("There is no threshold yet, so nothing like it acts on its own.")
    else:
        kind = "uncertified" if decision.get("uncertified") else "certified"
        scale = _scale(decision)
        said.append(f"The {kind} threshold is {threshold:.3f}{scale and f', {scale}'}.")
    return " ".join(said)


def _scale(decision: Mapping[str, Any]) -> str:
    """Return on which scale the threshold is; nothing where there is one scale only."""
    compared, composite = decision.get("confidence"), decision["composite"]
    calibrated = decision.get("calibrated")
    if calibrated is None and compared in (None, composite):
        return ""
    if compared == composite:
        return "on the scale before calibration"
    if compared is not None and compared == calibrated:
        return "on the calibrated scale"
    return "on a scale of its own" if compared is None else f"with which {compared:.3f} is compared"
