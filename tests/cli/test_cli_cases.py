"""`sureline cases`: who asks for a larger window learns how it is searched, or that it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.postgres import Postgres
from tests.postgres import postgres as postgres

POLICY = """\
version: 1
slices:
  payments:
    mode: log_only
    weights: {verification: 0.5, history: 0.5}
    history: {neighbours: 2, fields: [vendor], window: 50000}
"""


def payment(number: int) -> str:
    output = {"vendor": f"Vendor {number}"}
    fields = {"slice_key": "payments", "task": "Pay it", "output": output, "id": f"p{number}"}
    return json.dumps(fields) + "\n"


def teach(run: Run, store: str, count: int = 4) -> None:
    """Let a person approve a few payments."""
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    proposals = "".join(map(payment, range(count)))
    assert run("decide", "--policy", "policy.yaml", "--store", store, text=proposals).exit_code == 1
    for number in range(count):
        said = ("outcome", f"p{number}", "--action", "approve", "--by", "Ada", "--store", store)
        assert run(*said).exit_code == 0


def status(run: Run, store: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("cases", "status", "--store", store, "--json").stdout)
    return found


@pytest.mark.sqlite_file
def test_on_sqlite_it_says_that_the_rest_is_not_searched(run: Run) -> None:
    """A policy that asks for more is told at its activation, and there is nothing to build."""
    store = "sqlite:///s.db"
    teach(run, store)
    told = run("policy", "activate", "policy.yaml", "--by", "kim", "--store", store)
    assert "only the latest 20,000 verdicts can be searched here" in told.stderr
    found = status(run, store)
    assert (found["beyond"], found["in_memory"]) == ("sqlite", 20_000)
    assert [
        (one["slice"]["slice_key"], one["slice"]["recorded"], one["window"], one["how"])
        for one in found["slices"]
    ] == [("payments", 4, 50_000, "memory")]
    assert "payments" in run("cases", "status", "--store", store).stdout
    refused = run("cases", "index", "--store", store)
    assert refused.exit_code == 1
    assert "SQLite" in refused.stderr


def test_on_postgresql_it_takes_in_what_is_missing(run: Run, postgres: Postgres) -> None:
    """And says that a few cases need no index."""
    store = postgres.database()
    teach(run, store)
    assert status(run, store)["slices"][0]["slice"]["index"] is None
    told = run("cases", "index", "--store", store)
    assert told.exit_code == 0
    assert "no slice has so many" in told.stdout
    found = status(run, store)
    assert found["beyond"] is None
    assert found["slices"][0]["slice"]["index"]["stored"] == 4
    told = run("policy", "activate", "policy.yaml", "--by", "kim", "--store", store)
    assert "can be searched here" not in told.stderr
    checked = json.loads(run("ledger", "verify", "--store", store, "--json").stdout)
    assert (checked["cases"]["in_database"], checked["cases"]["wrong"]) == (4, 0)
