"""`sureline weights`: learned beside fixed weights."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.test_cli_import import imported, row, write


def test_both_are_shown_with_the_verdict(run: Run, folder: Path) -> None:
    """Too few labels so far: the policy's weights stay, and the reason is said."""
    run("init", ".")
    policy = folder / "policy.yaml"
    text = policy.read_text("utf-8")
    two = text.replace("{verification: 1.0}", "{verification: 0.7, history: 0.3}")
    policy.write_text(two, "utf-8")
    run("decide", "-", "--policy", "policy.yaml", text="")
    write(folder / "log.jsonl", [row(n) for n in range(100, 130)])
    imported(run)
    result = run("weights", "--slice", "invoices")
    assert result.exit_code == 0, result.output
    assert "fixed" in result.stdout
    assert "labels to learn from" in result.stdout or "one fold" in result.stdout
    found = json.loads(run("weights", "--slice", "invoices", "--json").stdout)
    assert found["fixed"]["weights"] == [0.3, 0.7]
    assert found["use"] is False


def test_a_slice_with_one_signal_is_refused(started: Run) -> None:
    """Exit code 2 with the reason."""
    result = started("weights", "--slice", "invoices")
    assert result.exit_code == 2
    assert "nothing to learn" in result.stderr
