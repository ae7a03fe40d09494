"""Nobody's yes is about what they proposed themselves, wherever they say it (R12)."""

from __future__ import annotations

from sureline.application.ports.ledger import StoredDecision
from sureline.application.review.reviewed import APPROVING
from sureline.core.values.outcome import Action
from sureline.core.values.person import same_person
from sureline.errors import Forbidden


def check_not_own(stored: StoredDecision | None, by: str, action: Action) -> None:
    """Raise Forbidden where an answer would approve what the same person had submitted."""
    if action in APPROVING and stored is not None and same_person(stored.submitted_by, by):
        raise Forbidden("nobody approves their own proposal; somebody else must")
