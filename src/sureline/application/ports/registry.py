"""Policies, calibrations and who made them current."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

REBUILD = "rebuild"
"""The kind of an activation that made labels and counts anew from the ledger."""

RESTORED = "restored"
"""The kind of an activation that took a store into use that was restored from a backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """An act of a person that changed what holds: a policy, certificates or rebuilt counts.

    `share` in (0, 1] says for how many decisions a calibration holds from then on (L2). NaN is
    one that could not be read.
    """

    workspace: str
    kind: str
    subject: str
    by: str
    at: datetime
    note: str = ""
    share: float = 1.0


class Registry(Protocol):
    """Keeps policies, certificates and who made them current."""

    async def propose_policy(self, policy_hash: str, text: str, at: datetime) -> bool:
        """Store a validated policy's text; False if it is there already."""

    async def policy_text(self, policy_hash: str) -> str | None:
        """Return a stored policy's canonical text (JSON), or None."""

    async def policies(self) -> Sequence[dict[str, Any]]:
        """Return all stored policies, newest first: hash, proposed_at, active."""

    async def activate(self, activation: Activation) -> None:
        """Make `subject` (a policy hash or a calibration id) current, in the ledger."""

    async def active(self, workspace: str, kind: str) -> Activation | None:
        """Return what is current of `policy` or `calibration`, or None."""

    async def activations(self, workspace: str, kind: str) -> Sequence[Activation]:
        """Return every activation of `policy` or `calibration`, oldest first."""

    async def activation_mark(self) -> int:
        """Return the number that grows with every activation (see Prior)."""

    async def save_calibration(
        self, *, calibration_id: str, workspace: str, body: bytes, at: datetime
    ) -> None:
        """Store a calibration (certificates, reliability, data hash) as a proposal."""

    async def calibration(self, calibration_id: str) -> bytes | None:
        """Return a stored calibration's JSON, or None."""

    async def calibrations(self, workspace: str) -> Sequence[dict[str, Any]]:
        """Return the stored calibrations, newest first: id, created_at, active."""
