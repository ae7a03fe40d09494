"""The logbook tells what changed and how much was automated on either side of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.logbook import Change, Entry
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.switch import Switch
from sureline.testing import MOMENT, FixedClock
from tests.adapters.storage.samples import record

POLICY = "version: 1\nslices:\n  invoices: {}\n  replies: {}\n"
DAY = timedelta(days=1)


async def _decide(services: Services, day: int, automated: int, people: int, key: str) -> None:
    for number in range(automated + people):
        route = "auto_approve" if number < automated else "human_review"
        name = f"{key} {day} {number}"
        made = record(name, slice_key=key, route=route, created_at=MOMENT + day * DAY)
        await services.ledger.append(made)


async def _switch(services: Services, scope: str, *, on: bool, by: str, day: int) -> None:
    await services.ledger.set_switch(
        Switch(
            workspace="default",
            scope=scope,
            on=on,
            reason="why",
            by=by,
            changed_at=MOMENT + day * DAY,
        )
    )


def _only(entries: list[Entry], change: Change) -> Entry:
    (found,) = [one for one in entries if one.change is change]
    return found


@pytest.fixture
async def entries(tmp_path: Path) -> list[Entry]:
    """Write a month of two slices with changes, and read them back."""
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    async with open_services("sqlite://", plugins=Plugins(clock=FixedClock())) as services:
        await services.prepare(tmp_path / "policy.yaml")
        for day in (2, 3, 9, 10, 11, 17, 18):
            await _decide(services, day, automated=day, people=1, key="invoices")
        await _decide(services, 11, automated=0, people=50, key="replies")
        await _switch(services, "slice:invoices", on=True, by="guard", day=10)
        await _switch(services, "slice:invoices", on=False, by="Ada", day=12)
        await _switch(services, "global", on=True, by="Ada", day=13)
        await services.ledger.erase(
            "default", "dinvoices 2 0", by="Kim", reason="asked", at=MOMENT + 20 * DAY
        )
        calibration = await services.recalibrator.recalibrate()
        await services.calibrations.activate(calibration.id, by="Ada", note="first")
        return list(await services.logbook.entries())


def test_every_kind_of_change_is_listed(entries: list[Entry]) -> None:
    """Oldest first, with who and why."""
    assert [(one.change, one.by) for one in entries] == [
        (Change.POLICY, "first policy"),
        (Change.CALIBRATION, "Ada"),
        (Change.GUARD, "guard"),
        (Change.SWITCH_OFF, "Ada"),
        (Change.SWITCH_ON, "Ada"),
        (Change.ERASURE, "Kim"),
    ]
    assert _only(entries, Change.CALIBRATION).note == "first"
    assert _only(entries, Change.ERASURE).subject == "dinvoices 2 0"


def test_rates_are_of_the_seven_days_on_either_side(entries: list[Entry]) -> None:
    """The day itself belongs to neither; a slice's change has that slice's rates."""
    guard = _only(entries, Change.GUARD)
    assert (guard.before.automated, guard.before.decisions) == (3 + 9, 3 + 9 + 2)
    assert (guard.after.automated, guard.after.decisions) == (11 + 17, 11 + 17 + 2)
    everything = _only(entries, Change.SWITCH_ON)
    assert everything.slice_key is None
    assert (everything.before.automated, everything.before.decisions) == (30, 83)
    assert _only(entries, Change.ERASURE).after.share is None
