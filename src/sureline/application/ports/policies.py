"""Where policies come from: a file that people edit, or the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from sureline.core.values.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    """A policy that was read and found sound.

    `text` is its canonical content (JSON), which needs no other file and is what a registry
    stores. `warnings` are sentences with file, line and key. `files` are those that it names.
    """

    policy: Policy
    text: str
    warnings: tuple[str, ...] = ()
    files: tuple[PurePath, ...] = ()
