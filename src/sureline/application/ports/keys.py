"""Who may talk to the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Role(StrEnum):
    """What a key may do (R12)."""

    AGENT = "agent"
    """Submit proposals and read its own decisions."""
    REVIEWER = "reviewer"
    """Answer reviews."""
    ADMIN = "admin"
    """Everything, switches and policies included."""
    AUDITOR = "auditor"
    """Read everything, change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key without its secret; no `slices` means all slices of the workspace.

    `trusted_sources` says that what an agent sends with this key as a source is the real source
    (its caller fetched it, not the agent); otherwise it counts as claimed (G34).
    """

    id: str
    name: str
    role: Role
    workspace: str
    slices: tuple[str, ...]
    created_at: datetime
    trusted_sources: bool = False
    revoked_at: datetime | None = None


class Keys(Protocol):
    """Keeps API keys; only a hash of the secret is stored."""

    async def create(
        self,
        *,
        name: str,
        role: Role,
        workspace: str,
        slices: Sequence[str],
        at: datetime,
        trusted_sources: bool = False,
    ) -> tuple[ApiKey, str]:
        """Make a key and return it with its secret, which is shown this once."""

    async def create_first(
        self, *, name: str, role: Role, workspace: str, at: datetime
    ) -> tuple[ApiKey, str] | None:
        """Make a key for all slices unless the workspace has one that is not revoked: then None.

        Of several that try at once, one makes it.
        """

    async def find(self, secret: str) -> ApiKey | None:
        """Return the key with this secret unless it is unknown or revoked."""

    async def get(self, workspace: str, key_id: str) -> ApiKey | None:
        """Return a key by its id, revoked or not, or None."""

    async def all(self, workspace: str) -> Sequence[ApiKey]:
        """Return the workspace's keys, oldest first."""

    async def revoke(self, workspace: str, key_id: str, at: datetime) -> None:
        """Revoke a key for ever. Raises NotFound."""
