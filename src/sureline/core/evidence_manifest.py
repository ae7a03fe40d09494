"""The list of what is in a pack of evidence: it is what is signed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.core.chain import Head
from sureline.core.evidence import Period
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

FORMAT = "sureline-evidence-1"
MANIFEST, SIGNATURE = "manifest.json", "signature.json"
MOST_SAMPLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A file of a pack: how long it is, and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a stream: where it stood before, and at its last row."""

    before: Head
    last: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a pack is of and what is in it; `store` is the identity of the store.

    `version` of sureline made it: another version may write the pages for reading otherwise.
    """

    version: str
    store: str
    period: Period
    seed: str
    sample: int
    payloads: bool
    streams: Mapping[str, Stretch]
    files: Mapping[str, Listed]

    def text(self) -> bytes:
        """Write it as JSON; the same content is always the same bytes."""
        content = {
            "format": FORMAT,
            "version": self.version,
            "store": self.store,
            "workspace": self.period.workspace,
            "from": self.period.since.isoformat(),
            "to": self.period.until.isoformat(),
            "seed": self.seed,
            "sample": self.sample,
            "payloads": self.payloads,
            "streams": {
                name: {"before": str(one.before), "last": str(one.last)}
                for name, one in self.streams.items()
            },
            "files": {
                name: {"bytes": one.size, "sha256": one.sha256} for name, one in self.files.items()
            },
        }
        return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def signed_bytes(manifest: bytes) -> bytes:
    """Return what the signature of a pack is over."""
    return FORMAT.encode() + b"\n" + manifest


def read_manifest(data: bytes, *, file: str) -> Manifest:
    """Read what `Manifest.text` wrote. Raises InvalidInput naming the file and the field."""
    try:
        content = strict_json(data, beyond=True)
    except ValueError as error:
        raise InvalidInput(f"not JSON ({error})", field=file) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidInput(f"expected a manifest with format {FORMAT!r}", field=file)
    try:
        found = _manifest(content)
    except KeyError as error:
        raise InvalidInput(f"{error.args[0]}: is missing", field=file) from None
    except (TypeError, ValueError, AttributeError, InvalidInput) as error:
        raise InvalidInput(f"not a manifest of a pack ({error})", field=file) from None
    if found.text() != data:
        raise InvalidInput("written otherwise than a pack's manifest is", field=file)
    return found


def _manifest(content: Mapping[str, Any]) -> Manifest:
    sample = int(content["sample"])
    if not 0 <= sample <= MOST_SAMPLE:
        raise InvalidInput(f"expected 0 to {MOST_SAMPLE}", field="sample")
    return Manifest(
        version=str(content["version"]),
        store=str(content["store"]),
        period=Period(
            workspace=str(content["workspace"]),
            since=datetime.fromisoformat(content["from"]),
            until=datetime.fromisoformat(content["to"]),
        ),
        seed=str(content["seed"]),
        sample=sample,
        payloads=bool(content["payloads"]),
        streams={
            name: Stretch(before=Head.parse(one["before"]), last=Head.parse(one["last"]))
            for name, one in content["streams"].items()
        },
        files={
            name: Listed(size=int(one["bytes"]), sha256=str(one["sha256"]))
            for name, one in content["files"].items()
        },
    )
