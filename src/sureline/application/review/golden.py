"""The golden set: what editors made of outputs, as cases that a generator can be tried on (R6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sureline.application.ports.planted import GoldenCase, PlantedStore


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEdits:
    """How often editors changed a field of a slice's outputs, of how many edits."""

    slice_key: str
    field: str
    changed: int
    edits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """Reads the golden set of one workspace."""

    planted: PlantedStore
    workspace: str

    async def cases(self, slice_key: str | None = None) -> Sequence[GoldenCase]:
        """Return the edits, oldest first; of each decision the latest, and none that was erased."""
        found = {
            one.decision_id: one for one in await self.planted.golden(self.workspace, slice_key)
        }
        return list(found.values())

    async def fields(self, slice_key: str | None = None) -> tuple[FieldEdits, ...]:
        """Return how often each field was changed, the most often changed first."""
        cases = await self.cases(slice_key)
        edits = Counter(one.slice_key for one in cases)
        changed = Counter((one.slice_key, name) for one in cases for name in one.edited_fields)
        return tuple(
            FieldEdits(slice_key=key, field=name, changed=count, edits=edits[key])
            for (key, name), count in sorted(changed.items(), key=lambda one: (-one[1], one[0]))
        )


def case_json(one: GoldenCase) -> dict[str, Any]:
    """Return a case as JSON values: what was asked, what came, what should have come.

    Who edited is left out: a golden set is handed around.
    """
    return {
        "id": one.decision_id,
        "slice_key": one.slice_key,
        "task": one.task,
        "source": [dict(each) for each in one.source],
        "draft": one.draft,
        "expected": one.expected,
        "edited_fields": list(one.edited_fields),
        "at": one.at.isoformat(),
    }


def fields_json(one: FieldEdits) -> dict[str, Any]:
    """Return a field's figures as JSON values."""
    return {
        "slice_key": one.slice_key,
        "field": one.field,
        "changed": one.changed,
        "edits": one.edits,
    }
