"""An output that acted, or that a person released, and was wrong: to be looked into (R14)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sureline.core.values.outcome import OutcomeSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One contradiction, with what the decision rested on.

    `outcome_id` is the answer that opened it, `source` its kind. `models` are those that gave an
    opinion, by the names that were asked and those that answered. `stands` turns False when a
    later answer says that the output was right after all. `closed_at` is None while it is open.
    """

    workspace: str
    id: str
    decision_id: str
    slice_key: str
    outcome_id: str
    source: OutcomeSource
    opened_at: datetime
    certificate: str | None
    policy: str
    models: tuple[str, ...] = ()
    stands: bool = True
    closed_at: datetime | None = None
    closed_by: str | None = None
    note: str | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether nobody has closed it."""
        return self.closed_at is None
