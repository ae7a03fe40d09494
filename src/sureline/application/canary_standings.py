"""Which evaluators passed their canaries, as every process of a workspace knows it at once."""

from __future__ import annotations

from sureline.application.ports.registry import Activation, Registry
from sureline.core.gate.canaries import Standings
from sureline.core.opinions.canary_run import CanaryOutcome, CanaryRun

CANARIES = "canaries"
"""The kind of an activation that tells whether an evaluator, by its identity, passed."""


async def canary_standings(registry: Registry, workspace: str) -> Standings:
    """Return whether each evaluator passed its latest complete run; a note we cannot read: no."""
    return {
        one.subject: one.note == CanaryOutcome.PASSED
        for one in await registry.activations(workspace, CANARIES)
    }


def standing_after(run: CanaryRun, workspace: str) -> Activation | None:
    """Return what a run changes: nothing where it is incomplete, or drew its line elsewhere."""
    if not run.counts:
        return None
    return Activation(
        workspace=workspace,
        kind=CANARIES,
        subject=run.identity,
        by="canaries",
        at=run.at,
        note=run.outcome,
    )
