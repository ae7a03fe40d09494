"""Wire what erases: everything about a subject, and what is past its time."""

from __future__ import annotations

from typing import Protocol

from sureline.adapters.storage.store import Store
from sureline.application.decide import Decider
from sureline.application.erasure import SubjectEraser
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.retention import Keeper
from sureline.bootstrap.plugins import Plugins


class Opened(Protocol):
    """What erasing needs of the services on a store."""

    @property
    def store(self) -> Store:
        """Return the store."""

    @property
    def decider(self) -> Decider:
        """Return the gate, whose secret keys subjects."""

    @property
    def policies(self) -> PolicyBook:
        """Return the policies."""

    @property
    def clock(self) -> Clock:
        """Return the clock."""

    @property
    def workspace(self) -> str:
        """Return the workspace."""

    @property
    def plugins(self) -> Plugins:
        """Return what the program brought along."""


def subject_eraser(services: Opened) -> SubjectEraser:
    """Return what erases everything about a subject."""
    return SubjectEraser(
        store=services.store.erasures,
        clock=services.clock,
        secret=services.decider.secret,
        workspace=services.workspace,
        forget_replies=services.plugins.forget,
    )


def keeper(services: Opened) -> Keeper:
    """Return what applies the policy's time limits."""
    return Keeper(
        store=services.store.erasures,
        policies=services.policies,
        clock=services.clock,
        workspace=services.workspace,
        forget_replies=services.plugins.forget,
    )
