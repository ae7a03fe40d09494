"""What is known of past cases that lie in the database, and of the indexes on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseIndexState:
    """A slice's cases of one embedding model in the database, and its index.

    `state` is `none`, `building`, `half` (what an interrupted building left) or `there`. `recall`
    was measured over `queries` stored vectors when there were `rows_measured` cases.
    """

    scope: int
    stored: int
    unusable: int
    state: str
    index_bytes: int
    recall: float | None
    recall_low: float | None
    queries: int | None
    rows_measured: int | None
    measured_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSlice:
    """A slice's verdicts that have a vector of one embedding model, as the ledger has them.

    `index` is None while none of them was taken into the database's table.
    """

    slice_key: str
    model_id: str
    dimension: int
    recorded: int
    index: CaseIndexState | None
