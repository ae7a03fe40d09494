"""Which evaluators passed their canaries, as every process of a workspace knows it at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.canary_evaluators import Examinee
from sureline.application.canary_history import why
from sureline.application.ports.registry import Activation, Registry
from sureline.core.gate.canaries import FAILED, NOT_RUN, Standings
from sureline.core.opinions.canary_run import CanaryOutcome, CanaryRun

CANARIES = "canaries"
"""The kind of an activation that tells whether an evaluator, by its identity, passed."""


async def canary_standings(registry: Registry, workspace: str) -> Standings:
    """Return whether each evaluator passed its latest complete run; a note we cannot read: no."""
    return {
        one.subject: one.note.partition(":")[0] == CanaryOutcome.PASSED
        for one in await registry.activations(workspace, CANARIES)
    }


def standing_after(run: CanaryRun, workspace: str) -> Activation | None:
    """Return what a run changes: nothing where it is incomplete, or drew its line elsewhere."""
    if not run.counts:
        return None
    who = run.evaluator
    return Activation(
        workspace=workspace,
        kind=CANARIES,
        subject=run.identity,
        by="canaries",
        at=run.at,
        note=f"{run.outcome}: {who.role} {who.asked}, answered by {who.answered or 'itself'}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A second model of the current policy, and its latest run that counts, None without one."""

    examinee: Examinee
    run: CanaryRun | None

    @property
    def fault(self) -> str | None:
        """Return why it does not count where it must pass, as a code; None if it passed."""
        if self.run is None:
            return NOT_RUN
        return None if self.run.outcome is CanaryOutcome.PASSED else FAILED

    def is_older_than(self, moment: datetime) -> bool:
        """Tell whether there is no run after `moment`."""
        return self.run is None or self.run.at <= moment

    @property
    def warning(self) -> str | None:
        """Return what somebody should know, None if there is nothing."""
        who = f"{self.examinee.evaluator.role} {self.examinee.evaluator.asked}"
        bound = ", ".join(self.examinee.bound)
        if self.run is None:
            never = f"{who} was not put to the canaries as it is now, so its signal has failed in"
            return f"{never} {bound}: run `sureline canaries`" if bound else None
        if self.fault is None:
            return None
        effect = f"its signal has failed in {bound}" if bound else "it is still used"
        return f"{who} failed its canaries on {self.run.at:%Y-%m-%d} ({why(self.run)}); {effect}"


def warnings_of(standings: tuple[Standing, ...]) -> Iterator[str]:
    """Yield what somebody should know about the second models."""
    for one in standings:
        if one.warning is not None:
            yield one.warning


def standing_json(one: Standing) -> dict[str, Any]:
    """Return a standing as JSON values."""
    return {
        "role": one.examinee.evaluator.role,
        "asked": one.examinee.evaluator.asked,
        "answered": None if one.run is None else one.run.evaluator.answered,
        "fault": one.fault,
        "at": None if one.run is None else one.run.at.isoformat(),
        "must_pass_in": list(one.examinee.bound),
        "warning": one.warning,
    }
