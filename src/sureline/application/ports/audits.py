"""What an audit asks for, and what it has found: rows of the ledger, read for people and guard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueAudit:
    """An automated decision that was drawn for the audit and has no audit label yet (G23)."""

    decision_id: str
    slice_key: str
    decided_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedLabel:
    """The label of an automated decision that was drawn for the audit and has been audited.

    `audited_at` is when an auditor first gave a label. `correct` is the effective label: an
    incident that contradicts the auditor holds.
    """

    decision_id: str
    decided_at: datetime
    audited_at: datetime
    correct: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An act of erasing a decision's payload."""

    workspace: str
    slice_key: str
    decision_id: str
    by: str
    reason: str
    erased_at: datetime
