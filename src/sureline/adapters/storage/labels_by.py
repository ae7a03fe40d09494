"""Count the labels that one person gave, as they are counted in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes
from sureline.core.values.label_count import LabelCount
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.person import person_of
from sureline.core.values.stratum import LabelStratum

LABELS_BY = compiled(
    select(
        decisions.c.score_bin,
        labels.c.stratum,
        labels.c.correct,
        decisions.c.created_at,
        outcomes.c.by,
    )
    .select_from(
        labels.join(
            decisions,
            and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
        ).join(
            outcomes,
            and_(
                outcomes.c.workspace == labels.c.workspace,
                outcomes.c.decision_id == labels.c.decision_id,
                outcomes.c.seq == labels.c.mark,
            ),
        )
    )
    .where(
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.slice_key == bindparam("slice_key"),
        decisions.c.measurement_hash == bindparam("measurement_hash"),
        or_(
            outcomes.c.by == bindparam("by"),
            func.substr(outcomes.c.by, bindparam("start")) == bindparam("end"),
        ),
        decisions.c.score_bin.is_not(None),
    )
)
"""A label's mark is the place of the outcome that gave it.

What came another way ends with the person's name (`inbound:chat:Ada`): see `labels_of`.
"""


def labels_of(workspace: str, slice_key: str, measurement_hash: str, by: str) -> Sequence[Any]:
    """Return the parameters of `LABELS_BY` for one person."""
    return workspace, slice_key, measurement_hash, by, -len(by) - 1, f":{by}"


def counted_by(rows: Iterable[Sequence[Any]], since_week: int, by: str) -> list[LabelCount]:
    """Count one person's of the rows of `LABELS_BY` from a week on, whichever way they came."""
    counts = Counter(
        (place, stratum, correct)
        for place, stratum, correct, created_at, name in rows
        if person_of(name) == by and week_number(day_number(from_micros(created_at))) >= since_week
    )
    return [
        LabelCount(
            score_bin=place,
            stratum=LabelStratum.parse(stratum),
            correct=bool(correct),
            count=count,
        )
        for (place, stratum, correct), count in sorted(counts.items())
    ]
