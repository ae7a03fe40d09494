"""Read the canaries that come with sureline."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from sureline.core.opinions.canary import Canary, CanarySet, FailureMode


def shipped_canaries() -> CanarySet:
    """Return the known-good and the known-bad outputs that are shipped."""
    return CanarySet(good=_read("known_good.yaml"), bad=_read("known_bad.yaml"))


def _read(name: str) -> tuple[Canary, ...]:
    # Imported here: a gate whose policy names no model reads no canaries.
    import yaml

    text = (files("sureline.adapters.canaries") / name).read_text("utf-8")
    return tuple(_canary(entry) for entry in yaml.safe_load(text)["canaries"])


def _canary(entry: dict[str, Any]) -> Canary:
    mode, swap = entry.get("mode"), entry.get("swap")
    return Canary(
        id=entry["id"],
        task=entry["task"],
        source=entry["source"],
        output=entry["output"],
        mode=None if mode is None else FailureMode(mode),
        language=entry["language"],
        kind=entry["kind"],
        swap=None if swap is None else (swap[0], swap[1]),
    )
