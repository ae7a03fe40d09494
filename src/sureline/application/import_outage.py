"""Notice that a model gives no opinion on a log's rows, before all of them were asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from sureline.core.opinions.unavailable import PASSING
from sureline.errors import ModelFailed, SurelineError

TRIAL = 20
"""So many rows without an opinion, and none with it in between, end an import."""


@dataclass(slots=True)
class Outage:
    """Counts rows that were rejected for want of a signal since the last one that got it."""

    _lost: dict[str, int] = field(default_factory=dict)
    _why: dict[str, ModelFailed] = field(default_factory=dict)

    def watch(self, error: SurelineError | None, given: Collection[str]) -> None:
        """Take in what became of a row: why it was rejected, or the signals it was `given`."""
        for name in given:
            self._lost.pop(name, None)
        if isinstance(error, ModelFailed) and error.reason in PASSING:
            name = str(error.detail.get("signal"))
            self._lost[name] = self._lost.get(name, 0) + 1
            self._why[name] = error

    def stop_if_lasting(self) -> None:
        """Raise ModelFailed where a signal was lost for TRIAL rows, one after the other."""
        for name, count in self._lost.items():
            if count >= TRIAL:
                why = self._why[name]
                raise ModelFailed(
                    why.reason,
                    f"stopped after {count} rows that were {why.message}; mend that and bring "
                    "the same log again: what was taken in stays, the others are measured then",
                )
