"""The alert rules: sound, about what is exposed, each with a runbook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.exposed import FROM_PROMETHEUS, check, exposed, selected

ROOT = Path(__file__).parents[2]
RULES = yaml.safe_load((ROOT / "deploy/prometheus/sureline-rules.yml").read_text("utf-8"))
RUNBOOKS = (ROOT / "docs/howto/runbooks.md").read_text("utf-8")
DURATION = re.compile(r"\d+[smhd]")


def rules() -> Iterator[dict[str, Any]]:
    for group in RULES["groups"]:
        assert set(group) == {"name", "rules"}
        yield from group["rules"]


ALERTS = [pytest.param(one, id=one["alert"]) for one in rules()]


@pytest.mark.parametrize("rule", ALERTS)
def test_an_alert_asks_for_what_there_is(rule: dict[str, Any]) -> None:
    """Its expression is PromQL over metrics and labels that a server exposes."""
    check(rule["expr"])


@pytest.mark.parametrize("rule", ALERTS)
def test_an_alert_is_whole(rule: dict[str, Any]) -> None:
    """It has a severity, a sentence and a runbook, and nothing else that Prometheus rejects."""
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert DURATION.fullmatch(rule.get("for", "1m"))
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert set(rule["annotations"]) == {"summary", "runbook_url"}


@pytest.mark.parametrize("rule", ALERTS)
def test_an_alert_has_its_runbook(rule: dict[str, Any]) -> None:
    """The link leads to a section of the page, which says what to look at and what to do."""
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page == "docs/howto/runbooks.md"
    assert anchor == rule["alert"].lower()
    section = re.search(
        rf"^## {rule['alert']}\n(.*?)(?=^## |\Z)", RUNBOOKS, re.MULTILINE | re.DOTALL
    )
    assert section, f"no runbook for {rule['alert']}"
    for heading in ("**Means.**", "**Look.**", "**Do.**"):
        assert heading in section[1]


def test_every_runbook_has_its_alert() -> None:
    """No section is about an alert that was removed."""
    named = set(re.findall(r"^## (Sureline\w+)$", RUNBOOKS, re.MULTILINE))
    assert named == {one["alert"] for one in rules()}


def test_names_are_told_apart() -> None:
    """No two alerts have one name."""
    names = [one["alert"] for one in rules()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "expression",
    ["sum(sureline_no_such_total)", "sum by (person) (sureline_decisions_total)"],
    ids=["metric", "label"],
)
def test_the_check_sees_what_is_not_there(expression: str) -> None:
    """An expression about a metric or a label that is not exposed is refused."""
    with pytest.raises(AssertionError):
        check(expression)


def test_what_can_be_asked_for_is_what_is_scraped() -> None:
    """Names are read off a server's own registry, those of histograms included."""
    assert {"sureline_decisions_total", "sureline_store_commit_seconds_bucket"} <= set(exposed())
    assert selected("up == 0") == [("up", frozenset())]
    assert set(FROM_PROMETHEUS) == {"up"}
