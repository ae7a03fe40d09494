"""Who works on which slices, and who is called when they do not (R15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sureline.core.values.hours import WorkingHours

ON_CALL = "on_call"
"""The step at which an item goes to the group's own on-call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCall:
    """Whom an item goes to that nobody decided in time: a reviewer, a channel, or both."""

    person: str | None = None
    channel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """People who work on the same slices.

    `members` are reviewers' names. `slices` are resolved; a slice belongs to one group at most.
    `hours` None: deadlines count on the clock. `steps` are names of groups, or ON_CALL: the first
    is where an item goes that is one step up, the last is for all further steps.
    """

    name: str
    members: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    hours: WorkingHours | None = None
    on_call: OnCall | None = None
    steps: tuple[str, ...] = ()


Groups = Mapping[str, Group]
"""By name."""
