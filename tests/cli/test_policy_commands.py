"""`sureline policy` checks, compares and activates policies, with the exit codes of the CLI."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sureline.cli.app import app

LOGGING = "version: 1\nslices:\n  a: {attempts: 2}\n  b: {}\n"
Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one sound policy; its store is a file in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SURELINE_STORE", "sqlite:///sureline.db")
    (tmp_path / "policy.yaml").write_text(LOGGING)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["policy", *arguments])

    return invoke


def out(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_check_says_what_a_policy_needs(run: Run) -> None:
    """A sound file is reported with its hash and the labels each slice needs; no store is made."""
    result = run("check", "policy.yaml")
    assert result.exit_code == 0
    assert "the policy is sound" in result.stdout
    assert ["a", "log_only", "0.95", "59", "93", "124"] in [
        line.split() for line in result.stdout.splitlines()
    ]
    assert not Path("sureline.db").exists()


def test_check_as_json_has_figures(run: Run) -> None:
    """Programs get the same figures as numbers."""
    told = out(run("check", "policy.yaml", "--json"))
    assert told["warnings"] == []
    assert [one["labels_by_errors"] for one in told["slices"]] == [[59, 93, 124]] * 2
    assert told["slices"][0]["expectations"][1] == {"labels": 200, "share": 0.3, "scaled": False}


def test_check_tells_every_fault_and_exits_2(run: Run, folder: Path) -> None:
    """A faulty file is bad input: every fault on standard error, code 2."""
    (folder / "policy.yaml").write_text("version: 1\nslices:\n  a: {mode: fast, delta: 2}\n")
    result = run("check", "policy.yaml")
    assert result.exit_code == 2
    assert "policy.yaml:3:13: slices.a.mode" in result.stderr
    assert "policy.yaml:3:26: slices.a.delta" in result.stderr
    assert result.stdout == ""
    as_json = run("check", "policy.yaml", "--json")
    assert as_json.exit_code == 2
    assert json.loads(as_json.stderr)["error"]["code"] == "PolicyError"


def test_a_warning_does_not_fail_a_check(run: Run, folder: Path) -> None:
    """Warnings go to standard error and leave the exit code 0."""
    (folder / "policy.yaml").write_text("version: 1\nslices: {a: {target_precision: 0.99}}\n")
    result = run("check", "policy.yaml")
    assert result.exit_code == 0
    assert "warning: policy.yaml:2:32" in result.stderr


def test_a_missing_file_exits_2(run: Run) -> None:
    """A name that leads nowhere is named."""
    result = run("check", "nowhere.yaml")
    assert result.exit_code == 2
    assert "nowhere.yaml" in result.stderr


def test_activate_makes_a_file_current(run: Run) -> None:
    """A file is proposed and activated, and list and show agree about it."""
    told = out(run("activate", "policy.yaml", "--by", "mia", "--note", "start", "--json"))
    assert re.search(r" \d\d:\d\d:\d\d$", run("list").stdout, re.MULTILINE)
    listed = out(run("list", "--json"))["policies"]
    assert [(one["hash"], one["active"]) for one in listed] == [(told["active"], True)]
    shown = out(run("show", "--json"))
    assert shown["hash"] == told["active"]
    assert shown["policy"]["slices"]["a"]["attempts"] == 2


def test_propose_changes_nothing_until_activated(run: Run, folder: Path) -> None:
    """A proposal is listed beside the active policy; its hash's start activates it."""
    run("activate", "policy.yaml", "--by", "mia")
    (folder / "policy.yaml").write_text(LOGGING.replace("attempts: 2", "attempts: 3"))
    proposed = out(run("propose", "policy.yaml", "--by", "bo", "--json"))["hash"]
    assert out(run("show", "--json"))["hash"] != proposed
    result = run("activate", proposed[:8], "--by", "bo")
    assert result.exit_code == 0, result.output
    assert out(run("show", "--json"))["hash"] == proposed


def test_propose_switches_what_it_gives_to_people(run: Run, folder: Path) -> None:
    """A slice that becomes human_only is switched at once."""
    run("activate", "policy.yaml", "--by", "mia")
    (folder / "policy.yaml").write_text(LOGGING.replace("b: {}", "b: {mode: human_only}"))
    assert run("propose", "policy.yaml", "--by", "bo").exit_code == 0
    told = CliRunner().invoke(app, ["switch", "status", "--json"])
    scopes = {one["scope"]: one["state"] for one in out(told)["switches"]}
    assert scopes == {"slice:b": "on"}


def test_diff_of_two_files_needs_no_store(run: Run, folder: Path) -> None:
    """Changed keys and the slices that would be measured anew are told."""
    (folder / "new.yaml").write_text(
        "version: 1\nslices: {a: {attempts: 3}, b: {fatal_cap: 0.1}}\n"
    )
    told = out(run("diff", "policy.yaml", "new.yaml", "--json"))
    assert [(one["key"], one["before"], one["after"]) for one in told["changes"]] == [
        ("slices.a.attempts", 2, 3),
        ("slices.b.fatal_cap", 0.2, 0.1),
    ]
    assert told["remeasured"] == ["b"]
    text = run("diff", "policy.yaml", "new.yaml").stdout
    assert "slices.a.attempts: 2 -> 3" in text
    assert "certificates would end: b" in text
    assert "say the same" in run("diff", "policy.yaml", "policy.yaml").stdout
    assert not Path("sureline.db").exists()


def test_diff_against_the_active_policy(run: Run, folder: Path) -> None:
    """`active` names what the store holds."""
    run("activate", "policy.yaml", "--by", "mia")
    (folder / "policy.yaml").write_text(LOGGING.replace("attempts: 2", "attempts: 3"))
    told = out(run("diff", "active", "policy.yaml", "--json"))
    assert [one["key"] for one in told["changes"]] == ["slices.a.attempts"]


def test_show_prints_a_policy_that_can_be_read_again(run: Run, folder: Path) -> None:
    """What is shown is a policy itself, with all that was left to defaults."""
    shown = run("show", "policy.yaml")
    (folder / "whole.yaml").write_text(shown.stdout)
    assert out(run("diff", "policy.yaml", "whole.yaml", "--json"))["changes"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["show"], 2, "no policy is active", id="nothing-active"),
        pytest.param(["activate", "abcdef", "--by", "x"], 2, "expected the first 6", id="unknown"),
        pytest.param(["activate", "policy.yaml", "--by", " "], 2, "by: must not be", id="nobody"),
        pytest.param(["activate", "policy.yaml"], 2, "--by", id="no-by"),
        pytest.param(
            ["list", "--store", "sqlite:////nowhere/at/all.db"], 3, "", id="store-unreachable"
        ),
    ],
)
@pytest.mark.usefixtures("empty_store")
def test_what_goes_wrong_has_its_exit_code(
    run: Run, arguments: list[str], code: int, message: str
) -> None:
    """Bad input is 2, a store that cannot be opened 3, each with a sentence."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert message in result.stderr


@pytest.mark.usefixtures("empty_store")
def test_an_empty_store_lists_nothing(run: Run) -> None:
    """No policy yet is said, and is no error."""
    assert "no policy was proposed yet" in run("list").stdout
