"""The table of cases, and the doors by which its rows enter."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import postgres as postgres

CASES = Path(__file__).parents[3] / "shared" / "cases" / "cases.jsonl"


def read_cases() -> dict[str, dict[str, Any]]:
    """Return the cases by id; skips the test where the shared data is not there."""
    if not CASES.exists():
        pytest.skip(f"the table of cases is not there: {CASES.name} beside the project root")
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a row fail that was skipped though the table is there: it shows nothing."""
    report = yield
    if report.skipped and CASES.exists():
        report.outcome = "failed"
        report.longrepr = f"{item.name}: a row was skipped or expected to fail: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def cases() -> dict[str, dict[str, Any]]:
    """The cases by id."""
    return read_cases()


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SURELINE_STORE", "SURELINE_FORCE_HUMAN", "SURELINE_SWITCH_FILE"):
        monkeypatch.delenv(name, raising=False)
