"""Incidents of one decision, read off its corrections and off what admins closed (R14)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sureline.core.canonical import canonical_json
from sureline.core.review.correction import Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """Somebody closed an incident; `mark` is the place of that in the ledger."""

    mark: int
    at: datetime
    by: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An incident as far as it follows from answers: what opened it, and whether that stands."""

    id: str
    opened: Correction
    stands: bool = True
    closing: Closing | None = None


def incident_id(workspace: str, decision_id: str, outcome_id: str) -> str:
    """Return the id of the incident that an answer opens: the same however often it is made."""
    named = canonical_json([workspace, decision_id, outcome_id])
    return f"inc_{hashlib.sha256(named).hexdigest()[:32]}"


def cases(
    found: Sequence[Correction],
    closings: Mapping[str, Closing],
    *,
    workspace: str,
    decision_id: str,
) -> tuple[Case, ...]:
    """Return a decision's incidents, oldest first.

    Being called wrong again goes to the incident that is open; one that was closed before stays
    closed, and another is opened.
    """
    made: list[Case] = []
    for one in found:
        last = made[-1] if made else None
        closed = last is not None and _closed_before(last, one)
        if last is not None and not closed:
            made[-1] = replace(last, stands=not one.correct)
        elif not one.correct:
            new_id = incident_id(workspace, decision_id, one.answer.id)
            made.append(Case(id=new_id, opened=one, closing=closings.get(new_id)))
    return tuple(made)


def _closed_before(case: Case, one: Correction) -> bool:
    return case.closing is not None and case.closing.mark < one.answer.mark
