"""Recalibrate: from the labels so far to maps, certificates and reliability, as a proposal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sureline.application.counted_labels import CountedLabels, LabelReader
from sureline.application.holding import CALIBRATION, readable_share
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.registry import Activation, Registry
from sureline.application.review.reviewers import Reviewers
from sureline.application.stored_calibration import active_calibration
from sureline.core.canonical import canonical_json
from sureline.core.learning.calibrate import SliceCalibration as SliceCalibration
from sureline.core.learning.calibrate import SliceLabels, calibrate
from sureline.core.statistics.calibration import Unfitted
from sureline.core.statistics.certificate import Demand, Provenance
from sureline.core.statistics.map_json import map_to_json
from sureline.core.values.certificate import ErrorRate, Uncertified
from sureline.core.values.label_count import LabelCount
from sureline.core.values.policy import Policy
from sureline.errors import InvalidInput, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the labels say at one moment; changes nothing until a person activates it (L2).

    `data_hash` names the labels of all slices; `routes` counts decisions by slice and route.
    `earlier` are the maps in force: where no new one can be fitted, the old one stays. `labels`
    are each slice's, with how many count for nothing and why.
    """

    id: str
    workspace: str
    policy_hash: str
    data_hash: str
    created_at: datetime
    slices: tuple[SliceCalibration, ...]
    measurement_hashes: Mapping[str, str]
    base_measurements: Mapping[str, str]
    earlier: Mapping[str, Any]
    labels: Mapping[str, CountedLabels]
    routes: Mapping[str, Mapping[str, int]]

    @property
    def given(self) -> dict[str, int]:
        """Return how many labels each slice was given, whether they count or not."""
        return {key: one.given for key, one in self.labels.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibrator:
    """Computes calibrations of one workspace and activates them."""

    ledger: Ledger
    registry: Registry
    policies: PolicyBook
    clock: Clock
    workspace: str
    reviewers: Reviewers | None = None

    @property
    def labels(self) -> LabelReader:
        """Return what reads the labels that count."""
        return LabelReader(ledger=self.ledger, workspace=self.workspace, reviewers=self.reviewers)

    async def recalibrate(self) -> Calibration:
        """Certify every slice from its labels and store the result as a proposal."""
        calibration = await self.compute()
        await self.registry.save_calibration(
            calibration_id=calibration.id,
            workspace=self.workspace,
            body=canonical_json(calibration_json(calibration)),
            at=calibration.created_at,
        )
        return calibration

    async def compute(self) -> Calibration:
        """Return what `recalibrate` would store; store nothing.

        Each slice's labels are those of its present measurement: what was labelled under other
        weights, checks or models says nothing about the scores of now. Those of people who were
        shown not to look are no evidence, and left out. The same labels under the same policy give
        the same calibration again, with its first date: age is the labels' age.
        """
        policy = await self.policies.latest()
        labels = await self.labels.read(policy, self.clock.now())
        data_hash = _digest([[key, labels_hash(one.rows)] for key, one in labels.items()])
        earlier = await active_calibration(self.registry, self.workspace)
        about = [self.workspace, policy.hash, dict(policy.measurement_hashes), data_hash]
        about += _attention(policy, labels)
        calibration_id = f"cal_{_digest(about)[:24]}"
        now, kept = await self._begun(calibration_id)
        kept = earlier.get("maps", {}) if kept is None else kept
        return Calibration(
            id=calibration_id,
            workspace=self.workspace,
            policy_hash=policy.hash,
            data_hash=data_hash,
            created_at=now,
            slices=self._calibrate(policy, labels, now),
            measurement_hashes=policy.measurement_hashes,
            base_measurements=policy.base_measurements,
            earlier=kept,
            labels=labels,
            routes=await self.ledger.route_counts(self.workspace),
        )

    async def labels_of_earlier_models(self, calibration: Calibration) -> Mapping[str, int]:
        """Return how many labels each slice has that the models of at first measured.

        They count for nothing where others answer now; slices without such a change are left out.
        """
        measured = calibration.measurement_hashes
        found = {}
        for key, base in calibration.base_measurements.items():
            if base != measured[key]:
                rows = await self.ledger.label_counts(self.workspace, key, base)
                left_out = await self.ledger.labels_off_scale(self.workspace, key, base)
                found[key] = sum(row.count for row in rows) + left_out
        return found

    async def activate(
        self, calibration_id: str, *, by: str, note: str = "", share: float = 1.0
    ) -> None:
        """Make a stored calibration hold, for a drawn `share` in (0, 1] of the decisions (L2).

        The others keep the calibration that was active before. Raises InvalidInput, NotFound.
        """
        if not readable_share(share):
            raise InvalidInput(
                f"expected a number above 0 and at most 1, got {share}", field="share"
            )
        stored = await self.registry.calibration(calibration_id)
        if stored is None or json.loads(stored)["workspace"] != self.workspace:
            raise NotFound(f"there is no calibration {calibration_id!r} in this workspace")
        await self.registry.activate(
            Activation(
                workspace=self.workspace,
                kind=CALIBRATION,
                subject=calibration_id,
                by=by,
                at=self.clock.now(),
                note=note,
                share=share,
            )
        )

    async def _begun(self, calibration_id: str) -> tuple[datetime, dict[str, Any] | None]:
        """Return when these labels were first calibrated under this policy: now, or then.

        Then the maps of that time stand for those in force, so that the result is the same.
        """
        stored = await self.registry.calibration(calibration_id)
        if stored is None:
            return self.clock.now(), None
        before = json.loads(stored)
        return datetime.fromisoformat(before["created_at"]), before["maps"]

    def _calibrate(
        self, policy: Policy, labels: Mapping[str, CountedLabels], now: datetime
    ) -> tuple[SliceCalibration, ...]:
        """Calibrate slices together whose composites are made alike."""
        alike: dict[tuple[tuple[str, float], ...], list[SliceLabels]] = {}
        for key, one in labels.items():
            weights = tuple(sorted(policy.slices[key].weights.items()))
            alike.setdefault(weights, []).append(self._slice_labels(policy, key, one, now))
        found = [done for group in alike.values() for done in calibrate(group)]
        return tuple(sorted(found, key=lambda one: one.slice_key))

    def _slice_labels(
        self, policy: Policy, key: str, labels: CountedLabels, now: datetime
    ) -> SliceLabels:
        one = policy.slices[key]
        shares = one.error_rate is ErrorRate.FAMILY
        family = sum(other.error_rate is ErrorRate.FAMILY for other in policy.slices.values())
        return SliceLabels(
            slice_key=key,
            rows=labels.rows,
            judges=one.judge is not None,
            demand=Demand(
                target=one.target_precision,
                delta=one.delta,
                error_rate=one.error_rate,
                family_size=family if shares else 1,
            ),
            provenance=Provenance(
                workspace=self.workspace,
                policy_hash=policy.hash,
                measurement_hash=policy.measurement_hashes[key],
                issued_at=now,
                labels_excluded=labels.excluded,
            ),
            missed=labels.measured if one.certify_missed_errors else None,
        )


def _attention(policy: Policy, labels: Mapping[str, CountedLabels]) -> list[Any]:
    """Return what certificates take from planted errors, where they take anything.

    It is part of a calibration's id: the same labels with other planted errors are another one.
    """
    found = []
    for key, one in labels.items():
        seen, allows = one.measured.used, policy.slices[key].certify_missed_errors
        if one.excluded or allows:
            noticed = [seen.caught, seen.shown, one.measured.pooled] if allows else []
            found.append([key, one.excluded, noticed])
    return found


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    """Return a calibration as JSON values, as it is stored and shown."""
    return {
        "id": calibration.id,
        "workspace": calibration.workspace,
        "policy": calibration.policy_hash,
        "data_hash": calibration.data_hash,
        "created_at": calibration.created_at.isoformat(),
        "certificates": [
            {**asdict(one.certificate), "issued_at": one.certificate.issued_at.isoformat()}
            for one in calibration.slices
            if one.certificate is not None
        ],
        "uncertified": [
            asdict(one.verdict)
            for one in calibration.slices
            if isinstance(one.verdict, Uncertified)
        ],
        "base_measurements": dict(calibration.base_measurements),
        "maps": {one.slice_key: _maps_json(calibration, one) for one in calibration.slices},
        "labels": {one.slice_key: dict(one.labels) for one in calibration.slices},
        "reliability": {one.slice_key: asdict(one.reliability) for one in calibration.slices},
        "calibrated": {
            one.slice_key: None if one.calibrated is None else asdict(one.calibrated)
            for one in calibration.slices
        },
        "curves": {
            one.slice_key: [[p.threshold, p.coverage, p.precision] for p in one.curve]
            for one in calibration.slices
        },
    }


def _maps_json(calibration: Calibration, one: SliceCalibration) -> dict[str, Any]:
    """Return a slice's maps; what could not be fitted keeps the map in force, if measured alike."""
    measurement = calibration.measurement_hashes[one.slice_key]
    before = calibration.earlier.get(one.slice_key, {})
    kept = before.get("strata", {}) if before.get("measurement_hash") == measurement else {}
    refused = {name: fitted for name, fitted in one.maps.items() if isinstance(fitted, Unfitted)}
    new = {name: map_to_json(fitted) for name, fitted in one.maps.items()}
    return {
        "measurement_hash": measurement,
        "strata": {**kept, **new, **{name: kept[name] for name in refused if name in kept}},
        "refused": {name: map_to_json(fitted) for name, fitted in refused.items()},
    }


def labels_hash(rows: Sequence[LabelCount]) -> str:
    """Name labels by their counts, whatever their order."""
    return _digest(
        sorted([row.score_bin, str(row.stratum), row.correct, row.count] for row in rows)
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()
