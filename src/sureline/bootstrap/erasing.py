"""Wire what erases: everything about a subject, and what is past its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureline.application.erasure import SubjectEraser
from sureline.application.retention import Keeper

if TYPE_CHECKING:
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


def keeper(services: Services) -> Keeper:
    """Return what applies the policy's time limits."""
    return Keeper(
        store=services.store.erasures,
        policies=services.policies,
        clock=services.clock,
        workspace=services.workspace,
        forget_replies=services.plugins.forget,
    )
