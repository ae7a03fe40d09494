"""The calibrations there are, which of them holds, and the way back to the one before (L2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.current import CALIBRATION
from sureline.application.ports.registry import Activation, Registry
from sureline.application.recalibrate import Recalibrator
from sureline.errors import Conflict, NotFound, Refused

SHORTEST_PREFIX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalibration:
    """A calibration as it was stored; `body` is its JSON."""

    id: str
    created_at: datetime
    active: bool
    body: Mapping[str, Any]

    @property
    def thresholds(self) -> dict[str, float | None]:
        """Return each slice's certified threshold, None where it has no certificate."""
        return thresholds_of(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChange:
    """A slice's certified threshold before and after; None is no certificate."""

    slice_key: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationChange:
    """What an activation changed: from one calibration (None: none was active) to another."""

    before: str | None
    after: str
    by: str
    thresholds: tuple[ThresholdChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """Lists, shows, activates and takes back the calibrations of one workspace."""

    registry: Registry
    recalibrator: Recalibrator
    workspace: str

    async def stored(self) -> Sequence[dict[str, Any]]:
        """Return the calibrations, newest first: id, created_at, active."""
        return await self.registry.calibrations(self.workspace)

    async def find(self, prefix: str) -> StoredCalibration:
        """Return the calibration whose id starts with `prefix`. Raises NotFound."""
        known = await self.stored()
        found = [one for one in known if one["id"].startswith(prefix)]
        exact = [one for one in known if one["id"] == prefix]
        if not exact and (len(prefix) < SHORTEST_PREFIX or len(found) != 1):
            raise NotFound(
                f"expected the id of a calibration, or its first {SHORTEST_PREFIX} or more "
                f"characters, got {prefix!r}, which {len(found)} of {len(known)} start with"
            )
        (one,) = exact or found
        return StoredCalibration(**one, body=await self._body(one["id"]))

    async def activate(self, calibration_id: str, *, by: str, note: str = "") -> CalibrationChange:
        """Make a calibration's certificates current, in the ledger. Raises NotFound."""
        before = await self.registry.active(self.workspace, CALIBRATION)
        await self.recalibrator.activate(calibration_id, by=by, note=note)
        return await self._change(None if before is None else before.subject, calibration_id, by)

    async def rollback(
        self, *, by: str, note: str = "", expected: str | None = None
    ) -> CalibrationChange:
        """Activate again what was active before the present calibration.

        A second rollback goes one further back. `expected` is the calibration that the caller
        means to take back. Raises Conflict if another is active, Refused if there is no earlier.
        """
        past = active_stack(await self.registry.activations(self.workspace, CALIBRATION))
        current = past[-1] if past else None
        if expected is not None and expected != current:
            raise Conflict(f"calibration {expected!r} is not the active one; {current!r} is")
        if len(past) < 2:
            raise Refused(
                "there is no earlier calibration to go back to; to stop automating, turn a switch "
                "on: `sureline switch on`"
            )
        return await self.activate(past[-2], by=by, note=note or f"rollback from {current}")

    async def _change(self, before: str | None, after: str, by: str) -> CalibrationChange:
        old = {} if before is None else await self._thresholds(before)
        new = await self._thresholds(after)
        return CalibrationChange(
            before=before,
            after=after,
            by=by,
            thresholds=tuple(
                ThresholdChange(slice_key=key, before=old.get(key), after=new.get(key))
                for key in sorted({*old, *new})
            ),
        )

    async def _thresholds(self, calibration_id: str) -> dict[str, float | None]:
        """Return what a calibration certifies: nothing if it is damaged, which stops no one."""
        try:
            return thresholds_of(await self._body(calibration_id))
        except (KeyError, TypeError, ValueError):
            return {}

    async def _body(self, calibration_id: str) -> Mapping[str, Any]:
        body = await self.registry.calibration(calibration_id)
        if body is None:
            raise NotFound(f"there is no calibration {calibration_id!r}")
        found: Mapping[str, Any] = json.loads(body)
        return found


def thresholds_of(body: Mapping[str, Any]) -> dict[str, float | None]:
    """Return by slice the threshold that a calibration's JSON certifies, None for none."""
    found: dict[str, float | None] = {one["slice_key"]: None for one in body["uncertified"]}
    found.update({one["slice_key"]: one["threshold"] for one in body["certificates"]})
    return found


def active_stack(activations: Sequence[Activation]) -> list[str]:
    """Return what is active and what lies beneath it, oldest first.

    `activations` are of one kind, oldest first. Activating what lies just beneath is going back;
    activating what is active already changes nothing.
    """
    stack: list[str] = []
    for one in activations:
        if stack and stack[-1] == one.subject:
            continue
        if len(stack) > 1 and stack[-2] == one.subject:
            stack.pop()
        else:
            stack.append(one.subject)
    return stack
