"""The table of cases and the rows agree: no case is without a row."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.cases.conftest import read_cases

COVERED = frozenset(
    {"1-judge", "2-schema", "3-calibration", "4-history", "5-approval", "6-missions", "7-ops"}
)
"""The areas of the table whose cases all have a row."""

ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"\[([A-Z]\d+)\]$|^test_([a-z]\d+)_")
"""A row is named by its case: as a parameter, `[S01]`, or in a test's name, `test_h15_...`."""


def row_of(test: str) -> str | None:
    """Return the id of the case whose row a test is."""
    named = _ROW.search(test)
    return None if named is None else (named[1] or named[2]).upper()


def collected_rows() -> Counter[str]:
    """Collect all rows in a process of their own; count them by case.

    That each passes is this run's business: `conftest.py` lets a skipped row fail.
    """
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    arguments = ["tests/cases", f"--ignore={__file__}", "--collect-only", "-p", "no:xdist"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    tests = (line.partition("::")[2] for line in run.stdout.splitlines())
    rows = (row_of(test) for test in tests if test)
    return Counter(row for row in rows if row is not None)


def test_every_case_has_exactly_one_row() -> None:
    """Of the covered areas each case has one row."""
    cases = read_cases()
    wanted = {name for name, case in cases.items() if case["area"] in COVERED}
    rows = collected_rows()
    assert {case["area"] for case in cases.values()} >= COVERED
    assert sorted(wanted - set(rows)) == [], "cases without a row"
    assert sorted(set(rows) - set(cases)) == [], "rows of no case"
    assert {name: rows[name] for name in wanted if rows[name] > 1} == {}, "rows twice"
