"""Recalibration belongs to one workspace and gives the same result for the same labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from sureline.bootstrap import open_services
from sureline.errors import NotFound

POLICY = "version: 1\nslices:\n  notes:\n    weights: {verification: 1}\n"


async def test_a_calibration_of_another_workspace_cannot_be_activated(tmp_path: Path) -> None:
    """What one workspace's labels prove says nothing about another's."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    async with open_services(url, workspace="a") as ours, open_services(url, workspace="b") as its:
        for services in (ours, its):
            await services.prepare(tmp_path / "policy.yaml")
        calibration = await ours.recalibrator.recalibrate()
        await ours.recalibrator.activate(calibration.id, by="ada")
        with pytest.raises(NotFound):
            await its.recalibrator.activate(calibration.id, by="mallory")


async def test_the_same_labels_give_the_same_bytes(tmp_path: Path) -> None:
    """Recalibrating twice on the same labels stores one calibration, byte for byte."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    async with open_services("sqlite://") as services:
        await services.prepare(tmp_path / "policy.yaml")
        first = await services.recalibrator.recalibrate()
        stored = await services.registry.calibration(first.id)
        second = await services.recalibrator.recalibrate()
        assert second.id == first.id
        assert await services.registry.calibration(second.id) == stored
        assert len(await services.registry.calibrations("default")) == 1
