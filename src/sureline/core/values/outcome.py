"""What turned out to be true of a decided output: a label (G23)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class OutcomeSource(StrEnum):
    """Who says so, weakest first; a later, stronger source overrides an earlier one."""

    REVIEW = "review"
    AUDIT = "audit"
    INCIDENT = "incident"
    IMPORT = "import"

    @property
    def rank(self) -> int:
        """Order: 0 for a review or an import, 1 for an audit, 2 for an incident."""
        return {OutcomeSource.AUDIT: 1, OutcomeSource.INCIDENT: 2}.get(self, 0)


class Action(StrEnum):
    """What the person did (G23 says which count as labels)."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    SKIP = "skip"
    ESCALATE = "escalate"
    EXPIRED = "expired"


MISMATCH = "content_mismatch"
"""Who is said to object where other content was to be used than what was approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A person's (or the world's) answer about one decision.

    `correct` is the label: True, False, or None where the action is no label. `anchored` says
    that the person saw the proposal before answering. `content` is the digest of what was decided
    on, as it is released; `edited` is that content as JSON, where an edit made it. `words_erased`
    says that a comment or an edit came and is not kept, because its decision's payload is erased.
    """

    id: str
    workspace: str
    decision_id: str
    action: Action
    correct: bool | None
    source: OutcomeSource
    by: str
    anchored: bool
    recorded_at: datetime
    comment: str | None = None
    edited_fields: tuple[str, ...] = ()
    content: str | None = None
    edited: bytes | None = None
    words_erased: bool = False
