"""When a supervised mission is invoked: no drift, no storm, once a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sureline.adapters.processes.cron_times import cron_times
from sureline.application.mission.triggers import Cron, Interval

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "line", "since", "expected"),
    [
        pytest.param(
            "America/New_York",
            "40 1 * * *",
            datetime(2026, 10, 31, 12, tzinfo=UTC),
            ["11-01 05:40", "11-02 06:40"],
            id="M03: the hour that comes twice",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "40 1 * * *",
            datetime(2026, 4, 3, 20, tzinfo=UTC),
            ["04-04 14:40", "04-05 15:10"],
            id="M03: half an hour that comes twice",
        ),
        pytest.param(
            "America/New_York",
            "30 2 * * *",
            datetime(2026, 3, 7, 12, tzinfo=UTC),
            ["03-08 07:00", "03-09 06:30"],
            id="an hour that is skipped",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "10 2 * * *",
            datetime(2026, 10, 3, 0, tzinfo=UTC),
            ["10-03 15:30", "10-04 15:10"],
            id="half an hour that is skipped",
        ),
        pytest.param(
            "America/New_York",
            "30 * * * *",
            datetime(2026, 11, 1, 5, 0, tzinfo=UTC),
            ["11-01 05:30", "11-01 06:30", "11-01 07:30"],
            id="every hour follows the hours that pass",
        ),
    ],
)
def test_times_of_a_local_clock(zone: str, line: str, since: datetime, expected: list[str]) -> None:
    """Each time of a day comes once, whatever the clock does."""
    times, found = cron_times(line, ZoneInfo(zone)), []
    for _ in expected:
        since = times.after(since)
        found.append(f"{since:%m-%d %H:%M}")
    assert found == expected


def test_a_clock_that_jumps_makes_no_storm() -> None:
    """What was missed is one; a clock set back brings nothing back."""
    cron = Cron(name="c", times=cron_times("0 * * * *", ZoneInfo("UTC")), since=NOW)
    later = NOW + timedelta(hours=9)
    assert cron.due(later, 0.0) is not None
    assert cron.due(later, 0.0) is None
    assert cron.due(later - timedelta(hours=3), 0.0) is None
    assert cron.due(later + timedelta(hours=1), 0.0) is not None


def test_an_interval_does_not_drift() -> None:
    """It fires at once and then at multiples; those that passed are one."""
    interval = Interval(30.0)
    asked = [0.0, 29.0, 31.0, 59.9, 60.0, 250.0, 251.0, 270.0]
    fired = [at for at in asked if interval.due(NOW, at) is not None]
    assert fired == [0.0, 31.0, 60.0, 250.0, 270.0]
