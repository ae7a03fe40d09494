"""The calibrations there are, which of them holds, and the way back to the one before (L2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.holding import (
    CALIBRATION,
    NO_CALIBRATION,
    Held,
    active_stack,
    holding,
)
from sureline.application.ports.registry import Activation, Registry
from sureline.application.recalibrate import Recalibrator
from sureline.errors import Conflict, NotFound, Refused

SHORTEST_PREFIX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalibration:
    """A calibration as it was stored; `body` is its JSON.

    It is active if it holds for some decisions; `share` in [0, 1] says for how many.
    """

    id: str
    created_at: datetime
    active: bool
    share: float
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
    """What an activation changed: from one calibration (None: none was active) to another.

    `after` holds for `share` of the decisions; the others keep `before`. It is `none` when what
    was taken back had nothing beneath it.
    """

    before: str | None
    after: str
    by: str
    share: float
    thresholds: tuple[ThresholdChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """Lists, shows, activates and takes back the calibrations of one workspace."""

    registry: Registry
    recalibrator: Recalibrator
    workspace: str

    async def stored(self) -> Sequence[dict[str, Any]]:
        """Return the calibrations, newest first: id, created_at, active, share."""
        found = await self.registry.calibrations(self.workspace)
        held = await holding(self.registry, self.workspace)
        shares = [held.share_of(one["id"]) for one in found]
        return [
            {**one, "active": share > 0, "share": share}
            for one, share in zip(found, shares, strict=True)
        ]

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

    async def preview(self, calibration_id: str) -> tuple[ThresholdChange, ...]:
        """Return what activating a calibration for all decisions would change; nothing changes.

        Before it is what holds for all decisions now, or for those that nothing is staged for.
        """
        held = await holding(self.registry, self.workspace)
        old = {} if held.full is None else await self._thresholds(held.full)
        new = await self._thresholds(calibration_id)
        return _changes(old, new)

    async def activate(
        self, calibration_id: str, *, by: str, note: str = "", share: float = 1.0
    ) -> CalibrationChange:
        """Make a calibration hold, in the ledger; see `Recalibrator.activate`."""
        past = await self._stack()
        await self.recalibrator.activate(calibration_id, by=by, note=note, share=share)
        return await self._change(past, by)

    async def rollback(
        self, *, by: str, note: str = "", expected: str | None = None
    ) -> CalibrationChange:
        """Activate again what was active before the present calibration.

        A second rollback goes one further back. `expected` is the calibration that the caller
        means to take back. A staged one goes first, even if there is none beneath it: then none
        holds. Raises Conflict if another is active, Refused if there is no earlier.
        """
        past = await self._stack()
        current = past[-1].subject if past else None
        if expected is not None and expected != current:
            raise Conflict(f"calibration {expected!r} is not the active one; {current!r} is")
        note = note or f"rollback from {current}"
        if len(past) > 1:
            return await self.activate(past[-2].subject, by=by, note=note)
        if not past or not past[-1].staged:
            raise Refused(
                "there is no earlier calibration to go back to; to stop automating, turn a switch "
                "on: `sureline switch on`"
            )
        await self._activate_none(by=by, note=note)
        return await self._change(past, by)

    async def _activate_none(self, *, by: str, note: str) -> None:
        await self.registry.activate(
            Activation(
                workspace=self.workspace,
                kind=CALIBRATION,
                subject=NO_CALIBRATION,
                by=by,
                at=self.recalibrator.clock.now(),
                note=note,
            )
        )

    async def _stack(self) -> list[Held]:
        return active_stack(await self.registry.activations(self.workspace, CALIBRATION))

    async def _change(self, past: Sequence[Held], by: str) -> CalibrationChange:
        """Tell what changed since the stack was `past`."""
        now = await self._stack()
        after = now[-1] if now else Held(subject=NO_CALIBRATION)
        if after.staged:
            past = now[:-1]  # what the others keep
        elif past and past[-1].staged and past[-1].subject == after.subject:
            past = past[:-1]  # what it was staged over
        before = past[-1].subject if past else None
        old = {} if before is None else await self._thresholds(before)
        new = await self._thresholds(after.subject)
        return CalibrationChange(
            before=before,
            after=after.subject,
            by=by,
            share=after.share,
            thresholds=_changes(old, new),
        )

    async def _thresholds(self, calibration_id: str) -> dict[str, float | None]:
        """Return what a calibration certifies: nothing if it is damaged or gone."""
        try:
            return thresholds_of(await self._body(calibration_id))
        except (KeyError, NotFound, TypeError, ValueError):
            return {}

    async def _body(self, calibration_id: str) -> Mapping[str, Any]:
        body = await self.registry.calibration(calibration_id)
        if body is None:
            raise NotFound(f"there is no calibration {calibration_id!r}")
        found: Mapping[str, Any] = json.loads(body)
        return found


def _changes(
    old: Mapping[str, float | None], new: Mapping[str, float | None]
) -> tuple[ThresholdChange, ...]:
    return tuple(
        ThresholdChange(slice_key=key, before=old.get(key), after=new.get(key))
        for key in sorted({*old, *new})
    )


def thresholds_of(body: Mapping[str, Any]) -> dict[str, float | None]:
    """Return by slice the threshold that a calibration's JSON certifies, None for none."""
    found: dict[str, float | None] = {one["slice_key"]: None for one in body["uncertified"]}
    found.update({one["slice_key"]: one["threshold"] for one in body["certificates"]})
    return found
