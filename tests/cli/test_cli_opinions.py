"""`sureline opinions` shows figures with what they rest on, and says what alarms."""

from __future__ import annotations

import asyncio
import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from sureline.adapters.storage.store import open_store
from sureline.application.opinion_health import HealthReader, HealthReport
from sureline.cli.opinions import show_health
from sureline.testing import MOMENT, FixedClock
from tests.adapters.storage.samples import judged_body, record
from tests.cli.conftest import Run
from tests.cli.test_cli_terminal import on_terminal

EVER = ("opinions", "--days", "100000")


async def _report(folder: Path) -> HealthReport:
    store = open_store(f"sqlite:///{folder / 'sureline.db'}")
    for day in range(8):
        moment = MOMENT - timedelta(days=day)
        for number in range(60):
            failed = number % 2 == 0 if day < 2 else number == 0
            body = judged_body(None, "timeout") if failed else judged_body(float(number % 5 > 0))
            await store.ledger.append(record(f"{day}-{number}", body=body, created_at=moment))
    try:
        clock = FixedClock()
        return await HealthReader(counts=store.opinions, clock=clock, workspace="default").read()
    finally:
        store.close()


@pytest.fixture
def report(folder: Path) -> HealthReport:
    """Return the health of a week of opinions, of which half fail since yesterday."""
    return asyncio.run(_report(folder))


def test_a_person_reads_figures_reasons_and_alarms(
    report: HealthReport, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line a model for answers, one for price and speed; then why, and what alarms."""
    show_health(report)
    said = capsys.readouterr().out
    assert "ALARM: failures" in said
    assert "judge gave no opinion 66 times: timeout 66" in said
    assert "ALARM judge (openai:small) fails more often since about 2026-01-04" in said
    assert "$0.001200" in said
    assert "800 ms" in said


def test_json_has_the_same_figures(report: HealthReport, run: Run) -> None:
    """What is written for a program has every figure of the table."""
    result = run(*EVER, "--json")
    found = json.loads(result.stdout)
    (one,) = found["opinions"]
    assert (one["asked"], one["failures"]["part"], one["reasons"]) == (480, 66, {"timeout": 66})
    assert one["coverage"] == pytest.approx(414 / 480)
    assert date.fromisoformat(found["first"]) < MOMENT.date()
    assert result.exit_code == bool(found["alarms"])


def test_a_store_without_opinions_says_so(run: Run, empty_store: None) -> None:
    """Nothing asked is no fault."""
    result = run("opinions")
    assert (result.exit_code, "no second opinions" in result.stdout) == (0, True)


def test_a_window_has_at_least_a_day(run: Run, empty_store: None) -> None:
    """Zero days are a mistake in the call."""
    assert run("opinions", "--days", "0").exit_code == 2


def test_states_are_coloured_on_a_terminal(report: HealthReport, folder: Path) -> None:
    """Calm is green; a pipe gets no colours."""
    _, drawn = on_terminal(*EVER, folder=folder)
    assert "\x1b[32mcalm" in drawn or "\x1b[1;31mALARM" in drawn


def test_the_watch_shows_them_too(report: HealthReport, run: Run, folder: Path) -> None:
    """`sureline watch` has the table of the last 28 days, and its JSON the report."""
    assert run("init", ".").exit_code == 0
    assert run("decide", "-", "--policy", "policy.yaml", text="").exit_code == 0
    found = json.loads(run("watch", "--json").stdout)
    assert set(found["opinions"]) == {"first", "last", "opinions", "alarms"}
