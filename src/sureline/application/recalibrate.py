"""Recalibrate: from the labels so far to certificates and a reliability table, as a proposal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sureline.application.current import CALIBRATION
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.registry import Activation, Registry
from sureline.core.canonical import canonical_json
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.curves import CurvePoint, risk_coverage
from sureline.core.statistics.reliability import Reliability, reliability
from sureline.core.statistics.tally import Tally, tally_counts
from sureline.core.values.certificate import Certificate, ErrorRate, Uncertified
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.policy import Policy, SlicePolicy
from sureline.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCalibration:
    """One slice: its certificate or what is missing, its reliability and its curve."""

    slice_key: str
    verdict: Certificate | Uncertified
    reliability: Reliability
    curve: tuple[CurvePoint, ...]

    @property
    def certificate(self) -> Certificate | None:
        """Return the certificate if there is one."""
        return self.verdict if isinstance(self.verdict, Certificate) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the labels say at one moment; changes nothing until a person activates it (L2).

    `data_hash` names the labels of all slices; `routes` counts decisions by slice and route.
    """

    id: str
    workspace: str
    policy_hash: str
    data_hash: str
    created_at: datetime
    slices: tuple[SliceCalibration, ...]
    routes: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibrator:
    """Computes calibrations of one workspace and activates them."""

    ledger: Ledger
    registry: Registry
    policies: PolicyBook
    clock: Clock
    workspace: str

    async def recalibrate(self) -> Calibration:
        """Certify every slice from its labels and store the result as a proposal.

        Each slice's labels are those of its present measurement: what was labelled under other
        weights, checks or models says nothing about the scores of now. The same labels under the
        same policy give the same calibration again, with its first date: age is the labels' age.
        """
        policy = await self.policies.latest()
        moment = self.clock.now()
        tallies = {key: await self._tally(policy, key, moment) for key in sorted(policy.slices)}
        data_hash = _digest([[key, tally.data_hash] for key, tally in tallies.items()])
        calibration_id = f"cal_{_digest([self.workspace, policy.hash, data_hash])[:24]}"
        now = await self._dated(calibration_id)
        family = sum(one.error_rate is ErrorRate.FAMILY for one in policy.slices.values())
        slices = tuple(
            self._calibrate(policy, policy.slices[key], tally, max(1, family), now)
            for key, tally in tallies.items()
        )
        calibration = Calibration(
            id=calibration_id,
            workspace=self.workspace,
            policy_hash=policy.hash,
            data_hash=data_hash,
            created_at=now,
            slices=slices,
            routes=await self.ledger.route_counts(self.workspace),
        )
        await self.registry.save_calibration(
            calibration_id=calibration.id,
            workspace=self.workspace,
            body=canonical_json(calibration_json(calibration)),
            at=now,
        )
        return calibration

    async def activate(self, calibration_id: str, *, by: str, note: str = "") -> None:
        """Make a stored calibration's certificates current. Raises NotFound."""
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
            )
        )

    async def _dated(self, calibration_id: str) -> datetime:
        """Return when these labels were first calibrated under this policy: now, or then."""
        stored = await self.registry.calibration(calibration_id)
        if stored is None:
            return self.clock.now()
        return datetime.fromisoformat(json.loads(stored)["created_at"])

    async def _tally(self, policy: Policy, slice_key: str, now: datetime) -> Tally:
        """Count the window's labels that are a fair sample of what can be automated."""
        window = policy.slices[slice_key].window_days
        counts = [
            one
            for one in await self.ledger.label_counts(
                self.workspace,
                slice_key,
                policy.measurement_hashes[slice_key],
                since_week=week_number(day_number(now) - window),
            )
            if one.stratum.decision.representative
        ]
        return tally_counts(
            [one.score_bin for one in counts],
            [one.correct for one in counts],
            [one.count for one in counts],
        )

    def _calibrate(
        self, policy: Policy, slice_policy: SlicePolicy, tally: Tally, family: int, now: datetime
    ) -> SliceCalibration:
        verdict = certify(
            tally,
            slice_key=slice_policy.key,
            demand=Demand(
                target=slice_policy.target_precision,
                delta=slice_policy.delta,
                error_rate=slice_policy.error_rate,
                family_size=family if slice_policy.error_rate is ErrorRate.FAMILY else 1,
            ),
            provenance=Provenance(
                workspace=self.workspace,
                policy_hash=policy.hash,
                measurement_hash=policy.measurement_hashes[slice_policy.key],
                issued_at=now,
            ),
        )
        return SliceCalibration(
            slice_key=slice_policy.key,
            verdict=verdict,
            reliability=reliability(tally),
            curve=risk_coverage(tally),
        )


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
        "reliability": {one.slice_key: asdict(one.reliability) for one in calibration.slices},
        "curves": {
            one.slice_key: [[p.threshold, p.coverage, p.precision] for p in one.curve]
            for one in calibration.slices
        },
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()
