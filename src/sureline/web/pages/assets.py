"""Scripts and styles: files of the package, addressed with their hash and kept for ever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sureline.bootstrap import drawing
from sureline.errors import NotFound

_FOLDER = Path(__file__).parent.parent / "static"
_TYPES = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file with its media type; `version` is the beginning of its hash."""

    content: bytes
    media_type: bytes
    version: str


def asset_path(name: str) -> str:
    """Return the address of a file; another content has another address."""
    return f"/static/{name}?v={assets()[name].version}"


def asset(name: str) -> Asset:
    """Return a file by its name. Raises NotFound."""
    found = assets().get(name)
    if found is None:
        raise NotFound("there is no such file")
    return found


@cache
def assets() -> dict[str, Asset]:
    """Read all files once."""
    return {
        path.name: Asset(
            content=(content := path.read_bytes()),
            media_type=_TYPES[path.suffix],
            version=hashlib.sha256(content).hexdigest()[:12],
        )
        for path in sorted((*_FOLDER.iterdir(), drawing.FIGURES_CSS))
        if path.suffix in _TYPES
    }
