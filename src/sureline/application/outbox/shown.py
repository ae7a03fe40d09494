"""Which values of an output leave with a notice: those that the policy names, and no other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sureline.application.ports.ledger import Ledger
from sureline.core.checks.paths import ABSENT, parse_path, walk
from sureline.core.values.notification import Notice


async def shown_fields(ledger: Ledger, notice: Notice, paths: Sequence[str]) -> dict[str, Any]:
    """Return the named fields of what was proposed, read now: what was erased is not told."""
    if not paths:
        return {}
    stored = await ledger.decision(notice.workspace, notice.decision_id)
    if stored is None or stored.answer is None:
        return {}
    output = json.loads(stored.answer)["output"]
    found = {path: _values(output, path) for path in paths}
    return {path: values[0] if len(values) == 1 else values for path, values in found.items()}


def _values(output: Any, path: str) -> list[Any]:
    values = [value for _, value in walk(output, parse_path(path)) if value is not ABSENT]
    return values or [None]
