"""What does not go together with redaction."""

from __future__ import annotations

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node


def check_redaction(node: Node, settings: SliceSettings, faults: Faults) -> None:
    """Tell what of a slice's redaction cannot be done, or would be got round."""
    redact = settings.redact
    for key in ("fields", "hide_from_models"):
        if getattr(redact, key) and not settings.output.structured:
            faults.add(node.deepest(("redact", key))[0], "a text has no fields")
    for index, path in enumerate(settings.history.fields):
        if path in redact.hide_from_models:
            faults.add(
                node.deepest(("history", "fields", index))[0],
                f"{path} is hidden from models, and a vector of it would be made by one",
            )
