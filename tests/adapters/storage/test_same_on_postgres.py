"""Queue, outbox and recalls do on PostgreSQL what they do on SQLite, test by test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SUITES = (
    "tests/outbox",
    "tests/recalls",
    "tests/web/test_incidents.py",
    "tests/web/test_reviews.py",
)


@pytest.mark.slow
def test_the_same_tests_pass_on_postgres() -> None:
    """Nothing fails, and the stores were really there."""
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.on_postgres", "-p", "no:xdist", *SUITES],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=1_500,
        check=False,
    )
    said = run.stdout[-6_000:] + run.stderr[-2_000:]
    assert run.returncode == 0, said
    stores = re.search(r"stores on PostgreSQL: (\d+)", run.stdout)
    assert stores is not None, said
    assert int(stores[1]) > 50
