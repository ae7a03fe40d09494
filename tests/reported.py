"""A store with half a year of decisions of slices that need different things."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sureline.adapters.policies.deductions_file import read_deductions_file
from sureline.adapters.policies.faults import Faults
from sureline.application.calibration_report import CalibrationReport
from sureline.application.ports.ledger import LabelledRecord
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.statistics.bins import score_bin
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.stratum import Fold
from sureline.testing import MOMENT, FixedClock
from tests.adapters.storage.samples import outcome, record, stratum

POLICY = """\
version: 1
slices:
  claims: {mode: route, weights: {verification: 1}, target_precision: 0.9}
  contracts: {mode: log_only, weights: {verification: 1}}
  invoices: {mode: route, weights: {verification: 0.7, history: 0.3}, target_precision: 0.9}
  letters: {mode: route, weights: {verification: 1}, target_precision: 0.9, audit_rate: 0.1}
  refunds: {mode: log_only, weights: {verification: 1}, target_precision: 0.9}
"""
WEEKS = 12
"""Weeks before the calibration that is active, and again after it until now."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """How one slice's decisions of a week come about.

    `right` is added to the chance of being right, which else is the score.
    """

    slice_key: str
    count: int
    right: float = 0.0
    sharpness: float = 5.0
    fields: tuple[str, ...] = ()


BEFORE = (
    Past(slice_key="contracts", count=20, right=-0.68),
    Past(slice_key="invoices", count=30, right=0.0, fields=("vendor",)),
    Past(slice_key="letters", count=60, right=0.06),
    Past(slice_key="refunds", count=12, right=0.1),
)
AFTER = (
    Past(slice_key="claims", count=2, right=0.1),
    Past(slice_key="contracts", count=20, right=-0.68),
    Past(slice_key="invoices", count=120, right=0.08, fields=("vendor",)),
    Past(slice_key="letters", count=120, right=-0.2, sharpness=9.0),
    Past(slice_key="refunds", count=25, right=0.1),
)


@dataclass
class World:
    """A store that is being filled."""

    services: Services
    clock: FixedClock
    measurements: dict[str, str]
    chance: np.random.Generator
    thresholds: dict[str, float] = field(default_factory=dict)
    number: int = 0

    async def week(self, pasts: tuple[Past, ...]) -> None:
        """Write a week of decisions with their labels, and go on to the next."""
        for past in pasts:
            await self.services.ledger.import_records(list(self._rows(past)))
        self.clock.advance(timedelta(weeks=1))

    def _rows(self, past: Past) -> Iterator[LabelledRecord]:
        for place in range(past.count):
            self.number += 1
            score = float(np.clip(self.chance.beta(past.sharpness, 1), 0.001, 0.999))
            correct = bool(self.chance.random() < np.clip(score + past.right, 0, 0.995))
            at = self.clock.now() + timedelta(days=7 * place / past.count)
            yield self._row(past, score, correct, at)

    def _row(self, past: Past, score: float, correct: bool, at: datetime) -> LabelledRecord:
        threshold = self.thresholds.get(past.slice_key)
        automated = threshold is not None and score >= threshold
        drawn = threshold is None or bool(self.chance.random() < 0.3)
        audit = automated and drawn
        fold = Fold.FIT if self.chance.random() < 0.3 else Fold.HOLD
        name = f"{past.slice_key}-{self.number:06d}"
        route = "auto_approve" if automated else "human_review" if score > 0.4 else "abstain"
        decided = record(
            name,
            slice_key=past.slice_key,
            route=route,
            score=score,
            score_bin=score_bin(score),
            audit=audit,
            stratum=stratum(fold=fold, representative=drawn, propensity=0.3 if automated else 1.0),
            measurement_hash=self.measurements[past.slice_key],
            created_at=at,
            body=json.dumps(body(score, route)).encode(),
            vector=None,
        )
        labelled = audit or not automated
        return LabelledRecord(
            record=decided,
            outcome=self._outcome(past, decided.id, correct, audit, at) if labelled else None,
        )

    def _outcome(
        self, past: Past, decision_id: str, correct: bool, audit: bool, at: datetime
    ) -> Outcome:
        found = outcome(
            f"of {decision_id}",
            decision_id,
            correct=correct,
            action=Action.APPROVE if correct else Action.REJECT,
            source=OutcomeSource.AUDIT if audit else OutcomeSource.REVIEW,
            anchored=not audit,
            recorded_at=at + timedelta(hours=3),
        )
        if correct or not past.fields or self.chance.random() < 0.2:
            return found
        return replace(found, action=Action.EDIT, edited_fields=past.fields)


def body(score: float, route: str) -> dict[str, Any]:
    """Return what reports read of a decision's lasting part."""
    alone = route == "auto_approve"
    return {
        "composite": score,
        "reasons": [{"code": "above_threshold" if alone else "below_threshold", "message": "."}],
        "signals": {"verification": {"value": score}, "history": {"value": None}},
    }


@asynccontextmanager
async def open_world(store: str, folder: Path) -> AsyncIterator[World]:
    """Open a store with the policy in force and nothing decided."""
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    clock = FixedClock(MOMENT)
    async with open_services(store, plugins=Plugins(clock=clock)) as services:
        await services.prepare(folder / "policy.yaml")
        policy = await services.policies.latest()
        yield World(
            services=services,
            clock=clock,
            measurements=dict(policy.measurement_hashes),
            chance=np.random.default_rng(20261130),
        )


@asynccontextmanager
async def filled_world(store: str, folder: Path) -> AsyncIterator[World]:
    """Open a store with half a year of decisions, and a calibration active from its middle."""
    async with open_world(store, folder) as world:
        for _ in range(WEEKS):
            await world.week(BEFORE)
        calibration = await world.services.recalibrator.recalibrate()
        await world.services.recalibrator.activate(calibration.id, by="ada")
        world.thresholds = {
            one.slice_key: one.certificate.threshold
            for one in calibration.slices
            if one.certificate is not None and one.slice_key in {"invoices", "letters"}
        }
        for _ in range(WEEKS):
            await world.week(AFTER)
        yield world


async def reported(world: World) -> CalibrationReport:
    """Return the report on what the world's labels say now."""
    return await world.services.reporter.report()


def deductions_in(draft: str) -> list[dict[str, Any]]:
    """Read a draft as the only entry of a deductions file."""
    faults = Faults()
    found = read_deductions_file(f"deductions:\n{draft}\n", "deductions.yaml", faults)
    faults.raise_if_any()
    assert found is not None
    return found
