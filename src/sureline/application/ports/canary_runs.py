"""Where runs of the canaries are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sureline.application.ports.registry import Activation
from sureline.core.opinions.canary_run import CanaryRun


class CanaryRuns(Protocol):
    """Keeps one ledger's runs of the canaries."""

    async def save(self, workspace: str, run: CanaryRun, standing: Activation | None) -> None:
        """Store a run, and with it, in one transaction, what it changes for the evaluator."""

    async def all(self, workspace: str) -> Sequence[CanaryRun]:
        """Return the runs that can be read, oldest first.

        One that somebody damaged speaks for nobody; verifying the ledger finds it.
        """
