"""`sureline policy accept`: from the report's suggestion to a proposed policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.test_cli_import import imported, row, write


@pytest.fixture
def labelled(started: Run, folder: Path) -> Run:
    """Return `run` in a folder with 200 labelled outputs, one in ten of them wrong."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 300)])
    imported(started)
    return started


def offers_of(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("report", "--json").stdout)["slices"][0]["offers"]
    return found


def test_the_report_names_the_command_and_it_works(labelled: Run) -> None:
    """The policy is proposed, told as a line of the file, and holds once it is activated."""
    command = "to propose slices.invoices.mode: sureline policy accept invoices first_certificate"
    assert command in labelled("report").stdout
    (offer,) = [one for one in offers_of(labelled) if one["change"]]
    given = ("policy", "accept", "invoices", offer["suggestion"], "--by", "Ada")
    done = labelled(*given, "--mark", offer["mark"])
    assert done.exit_code == 0
    assert '    mode: "route"' in done.stdout
    name = done.stdout.split("policy diff active ")[1].split()[0]
    told = labelled("policy", "diff", "active", name).stdout
    assert told.strip() == 'slices.invoices.mode: "log_only" -> "route"'
    assert labelled("policy", "activate", name, "--by", "Ada").exit_code == 0
    late = labelled(*given, "--mark", offer["mark"])
    assert late.exit_code == 2
    assert "looked" in late.stderr or "no single key" in late.stderr


def test_json_has_the_policy_and_the_change(labelled: Run) -> None:
    """For programs: what was proposed, and in which key."""
    done = labelled("policy", "accept", "invoices", "first_certificate", "--by", "Ada", "--json")
    found = json.loads(done.stdout)
    assert (found["key"], found["after"]) == ("slices.invoices.mode", "route")
    assert len(found["policy"]) == 64


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("invoices", "proof_lost"), "do not suggest"),
        (("nothing", "proof_lost"), "no slice"),
        (("invoices", "first_certificate", "--mark", "old"), "have changed"),
    ],
)
def test_what_is_not_suggested_is_refused(
    labelled: Run, words: tuple[str, ...], message: str
) -> None:
    """The message says what the figures say now; no policy is proposed."""
    done = labelled("policy", "accept", *words, "--by", "Ada")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(json.loads(labelled("policy", "list", "--json").stdout)["policies"]) == 1
