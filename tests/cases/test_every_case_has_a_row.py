"""The table of cases and the rows agree: no case is without a row that ran and passed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from tests.cases.conftest import read_cases

COVERED = frozenset({"1-judge", "2-schema", "3-calibration", "4-history", "5-approval", "7-ops"})
"""The areas of the table whose cases all have a row."""

ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"\[([A-Z]\d+)\]$|^test_([a-z]\d+)_")
"""A row is named by its case: as a parameter, `[S01]`, or in a test's name, `test_h15_...`."""


def row_of(test: str) -> str | None:
    """Return the id of the case whose row a test is."""
    named = _ROW.search(test)
    return None if named is None else (named[1] or named[2]).upper()


def passed_rows(report: Path) -> Counter[str]:
    """Run all rows in a process of their own; count by case those that passed."""
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    arguments = ["tests/cases", f"--ignore={__file__}", f"--junitxml={report}", "-p", "no:xdist"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert report.exists(), run.stdout + run.stderr
    # Of a test that was skipped, failed or broken its element says so by a child.
    passed = (test for test in ET.parse(report).iter("testcase") if not len(test))
    rows = (row_of(test.attrib["name"]) for test in passed)
    return Counter(row for row in rows if row is not None)


def test_every_case_has_exactly_one_row_that_passed(tmp_path: Path) -> None:
    """Of the covered areas each case has one row; a row that was skipped is none."""
    cases = read_cases()
    wanted = {name for name, case in cases.items() if case["area"] in COVERED}
    passed = passed_rows(tmp_path / "rows.xml")
    assert {case["area"] for case in cases.values()} >= COVERED
    assert sorted(wanted - set(passed)) == [], "cases without a row that passed"
    assert sorted(set(passed) - set(cases)) == [], "rows of no case"
    assert {name: passed[name] for name in wanted if passed[name] > 1} == {}, "rows twice"
