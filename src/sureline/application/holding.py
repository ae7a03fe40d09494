"""Which calibrations hold, each for its share of the decisions (L2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.application.ports.registry import Activation, Registry

CALIBRATION = "calibration"
"""The kind of an activation that makes a calibration hold."""
NO_CALIBRATION = "none"
"""The subject of an activation after which no calibration holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A calibration that was activated, and the share in (0, 1] of decisions it holds for."""

    subject: str
    share: float = 1.0

    @property
    def staged(self) -> bool:
        """Tell whether other decisions keep the calibration beneath."""
        return self.share < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What holds: `full` for every decision but the share that is drawn for `staged`.

    None is no calibration: nothing is certified, and people decide.
    """

    full: str | None
    staged: Held | None = None

    def share_of(self, calibration_id: str) -> float:
        """Return the share in [0, 1] of decisions for which a calibration holds."""
        drawn = 0.0 if self.staged is None else self.staged.share
        if self.staged is not None and calibration_id == self.staged.subject:
            return drawn
        return 1 - drawn if calibration_id == self.full else 0.0


async def holding(registry: Registry, workspace: str) -> Holding:
    """Return which calibrations hold in a workspace now."""
    stack = active_stack(await registry.activations(workspace, CALIBRATION))
    staged = stack.pop() if stack and stack[-1].staged else None
    return Holding(full=stack[-1].subject if stack else None, staged=staged)


def active_stack(activations: Sequence[Activation]) -> list[Held]:
    """Return what is active and what lies beneath it, oldest first; only the last can be staged.

    `activations` are of one kind, oldest first. Activating what lies just beneath is going back;
    activating what is active already changes at most its share. What is staged gives way to
    whatever is activated after it. An activation whose share cannot be read changes nothing: the
    earlier calibration goes on holding.
    """
    stack: list[Held] = []
    for one in activations:
        if one.subject == NO_CALIBRATION:
            stack.clear()
        elif readable_share(one.share):
            _activate(stack, Held(subject=one.subject, share=one.share))
    return stack


def _activate(stack: list[Held], new: Held) -> None:
    if stack and stack[-1].subject == new.subject:
        stack[-1] = new
        return
    if stack and stack[-1].staged:
        stack.pop()
        if stack and stack[-1].subject == new.subject:
            return  # it holds for the others already, and now for the share as well
    if len(stack) > 1 and stack[-2].subject == new.subject and not new.staged:
        stack.pop()
    else:
        stack.append(new)


def share_text(share: float) -> str:
    """Return a share as people read it: `10 %`."""
    return f"{100 * share:g} %"


def readable_share(share: float) -> bool:
    """Tell whether a share is one that something can hold for: above 0, at most 1, no NaN."""
    return 0 < share <= 1
