"""Wire what erases: everything about a subject, and what is past its time."""

from __future__ import annotations

from sureline.application.erasure import SubjectEraser
from sureline.bootstrap.services import Services


def subject_eraser(services: Services) -> SubjectEraser:
    """Return what erases everything about a subject."""
    return SubjectEraser(
        store=services.store.erasures,
        clock=services.clock,
        secret=services.decider.secret,
        workspace=services.workspace,
        forget_replies=services.plugins.forget,
    )
