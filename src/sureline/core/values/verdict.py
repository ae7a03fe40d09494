"""What a judge says after trying to refute an output."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.values.model_card import ModelCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's answer: `agrees` is a true boolean, `confidence` is finite in [0, 1].

    `card` says which model gave it and how; None for a judge that is no model.
    """

    agrees: bool
    confidence: float
    failure_mode: str | None = None
    model: str | None = None
    card: ModelCard | None = None
