"""Where policies come from: a file that people edit, or the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from sureline.core.values.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    """A policy that was read and found sound.

    `text` is its canonical content (JSON), which needs no other file and is what a registry
    stores. `warnings` are sentences with file, line and key.
    """

    policy: Policy
    text: str
    warnings: tuple[str, ...] = ()


class PolicyReader(Protocol):
    """Reads policies; raises PolicyError with everything that is wrong, in file order."""

    def read(self, source: str | PurePath) -> LoadedPolicy:
        """Read a policy: a path is a file, a text is the policy itself (and names no files)."""

    def restore(self, text: str) -> Policy:
        """Read a policy back from its canonical text."""
