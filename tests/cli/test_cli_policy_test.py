"""`sureline policy test`: expected routes, in CI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import GOOD, Run

ROUTING = {"history": 0.9}


@pytest.fixture
def cases(run: Run, folder: Path) -> Any:
    """Return a function that tests the starter policy, in mode `route`, on cases."""
    run("init", ".")
    text = (folder / "policy.yaml").read_text("utf-8").replace("mode: log_only", "mode: route")
    text = text.replace("{verification: 1.0}", "{verification: 0.7, history: 0.3}")
    (folder / "policy.yaml").write_text(text, "utf-8")

    def test(*lines: dict[str, Any], **keys: Any) -> Any:
        written = [{**GOOD, "now": "2026-02-01T09:00:00Z", **line} for line in lines]
        (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, written)), "utf-8")
        policy = keys.get("policy", "policy.yaml")
        return run("policy", "test", "cases.jsonl", "--policy", policy, *keys.get("more", ()))

    return test


@pytest.mark.parametrize(
    ("case", "route"),
    [
        pytest.param({}, "human_review", id="no-certificate"),
        pytest.param({"threshold": 0.9, "signals": ROUTING}, "auto_approve", id="above"),
        pytest.param({"threshold": 0.99, "signals": ROUTING}, "human_review", id="below"),
        pytest.param({"threshold": 0.9}, "human_review", id="too-few-verdicts"),
        pytest.param(
            {"threshold": 0.5, "signals": {"history": "novel"}}, "human_required", id="novel"
        ),
        pytest.param(
            {"threshold": 0.5, "signals": {"history": "failed"}}, "human_required", id="failed"
        ),
        pytest.param({"output": "no JSON", "threshold": 0.5}, "auto_reject", id="unreadable"),
        pytest.param(
            {"threshold": 0.5, "signals": ROUTING, "action_class": "pay"},
            "human_required",
            id="class",
        ),
        pytest.param(
            {"threshold": 0.9, "signals": ROUTING, "now": "2026-01-01T00:00:00Z"},
            "human_review",
            id="a-date-in-the-future-costs-points",
        ),
    ],
)
def test_a_case_takes_its_route(cases: Any, case: dict[str, Any], route: str) -> None:
    """The gate itself decides, with given signals, threshold and date."""
    result = cases({**case, "expect": route})
    assert result.exit_code == 0, result.output
    assert "1 of 1 cases as expected" in result.stdout


def test_a_mismatch_is_told_and_exits_1(cases: Any) -> None:
    """The case's name, what was expected, what came, and why."""
    result = cases({"expect": "human_review"}, {"name": "big invoice", "expect": "auto_approve"})
    assert result.exit_code == 1
    assert "big invoice: expected auto_approve, got human_review (no_certificate" in result.stdout
    assert "1 of 2 cases as expected" in result.stdout


def test_reasons_and_the_hidden_route_can_be_expected(cases: Any, folder: Path) -> None:
    """In log-only mode the route that would be taken is what counts."""
    expect = {"route": "human_review", "would_route": "auto_approve", "reasons": ["log_only"]}
    text = (folder / "policy.yaml").read_text("utf-8").replace("mode: route", "mode: log_only")
    (folder / "logging.yaml").write_text(text, "utf-8")
    case = {"threshold": 0.9, "signals": ROUTING, "expect": expect}
    assert cases(case, policy="logging.yaml").exit_code == 0
    told = cases(case, more=("--json",))
    assert told.exit_code == 1
    (found,) = json.loads(told.stdout)["results"]
    assert found["route"] == "auto_approve"
    assert len(found["mismatches"]) == 3


def test_a_judge_says_what_the_case_says(cases: Any, folder: Path) -> None:
    """A refutation goes to a person, agreement does not; without a verdict the judge is missing."""
    text = (folder / "policy.yaml").read_text("utf-8")
    (folder / "judged.yaml").write_text(
        text.replace("  invoices:\n", "  invoices:\n    judge: {model: other, otherwise: 1.0}\n"),
        "utf-8",
    )
    case = {"threshold": 0.9, "signals": ROUTING}
    result = cases(
        {**case, "judge": {"agrees": True}, "expect": "auto_approve"},
        {
            **case,
            "judge": {"agrees": False, "confidence": 0.9},
            "expect": {"route": "human_required", "reasons": ["judge_refuted"]},
        },
        {**case, "expect": {"route": "human_required", "reasons": ["signal_missing"]}},
        policy="judged.yaml",
    )
    assert result.exit_code == 0, result.output


def test_cases_do_not_know_of_each_other(cases: Any) -> None:
    """The same rejected task twice is no second attempt."""
    bad = {"output": "no JSON", "expect": "auto_reject"}
    assert cases(bad, bad, bad).exit_code == 0


def test_the_switch_of_this_machine_is_left_out(
    cases: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI gives the same answer while production is switched to people."""
    monkeypatch.setenv("SURELINE_FORCE_HUMAN", "1")
    assert cases({"threshold": 0.9, "signals": ROUTING, "expect": "auto_approve"}).exit_code == 0


@pytest.mark.parametrize(
    ("case", "said"),
    [
        pytest.param({"expect": "perhaps"}, "expect", id="route"),
        pytest.param({"expect": "abstain", "signals": {"a": 2}}, "signals", id="value"),
        pytest.param({"expect": "abstain", "colour": 1}, "colour", id="unknown-key"),
        pytest.param({}, "expect", id="nothing-expected"),
        pytest.param({"expect": "abstain", "now": "2026-01-01"}, "now", id="no-zone"),
    ],
)
def test_a_faulty_case_exits_2(cases: Any, case: dict[str, Any], said: str) -> None:
    """File, line and field are named."""
    result = cases({"expect": "human_review"}, case)
    assert result.exit_code == 2
    assert "cases.jsonl, line 2" in result.stderr
    assert said in result.stderr


@pytest.mark.parametrize("text", ["", "{", "[1]"], ids=["empty", "broken", "list"])
def test_a_faulty_file_exits_2(run: Run, folder: Path, text: str) -> None:
    """No cases is no success."""
    run("init", ".")
    (folder / "cases.jsonl").write_text(text, "utf-8")
    assert run("policy", "test", "cases.jsonl").exit_code == 2
