"""What editors made of outputs, joined with what they edited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, literal_column, select

from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.application.ports.planted import GoldenCase

_of_edit = payloads.alias("of_edit")
GOLDEN = compiled(
    select(
        decisions.c.id,
        decisions.c.slice_key,
        payloads.c.request,
        payloads.c.answer,
        _of_edit.c.request,
        outcomes.c.edited_fields,
        outcomes.c.recorded_at,
    )
    .select_from(
        outcomes.join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        )
        .join(
            payloads,
            and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq),
        )
        .join(
            _of_edit,
            and_(_of_edit.c.stream == outcomes.c.stream, _of_edit.c.seq == outcomes.c.seq),
        )
    )
    .where(
        outcomes.c.workspace == bindparam("workspace"),
        outcomes.c.action == literal_column("'edit'"),
        func.length(_of_edit.c.request) > literal_column("0"),
    )
    .order_by(outcomes.c.seq)
)
"""An edit's content is kept as the request of its own payload; erased with the decision's."""


def golden_case(row: Sequence[Any]) -> GoldenCase:
    """Build the value from a row of `GOLDEN`."""
    request, answer = json.loads(row[2]), json.loads(row[3])
    return GoldenCase(
        decision_id=row[0],
        slice_key=row[1],
        task=request["task"],
        source=tuple(request.get("source", ())),
        draft=answer["output"],
        expected=json.loads(row[4]),
        edited_fields=tuple(json.loads(row[5])),
        at=from_micros(row[6]),
    )
