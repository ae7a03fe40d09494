"""The Grafana dashboard: whole, on one data source that is chosen, about what is exposed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.exposed import check, exposed

ROOT = Path(__file__).parents[2]
DASHBOARD = json.loads((ROOT / "deploy/grafana/sureline.json").read_text("utf-8"))
PANELS = [one for one in DASHBOARD["panels"] if one["type"] != "row"]
EACH = [pytest.param(one, id=one["title"]) for one in PANELS]
CHOSEN = {"type": "prometheus", "uid": "${datasource}"}


def nested(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping inside a value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from nested(one)


@pytest.mark.parametrize("panel", EACH)
def test_a_panel_asks_for_what_there_is(panel: dict[str, Any]) -> None:
    """Each of its queries is PromQL over metrics and labels that a server exposes."""
    assert panel["targets"]
    for target in panel["targets"]:
        check(target["expr"])


@pytest.mark.parametrize("panel", EACH)
def test_a_legend_names_labels_that_are_left(panel: dict[str, Any]) -> None:
    """What a legend shows is a label by which its query groups, or one of the target."""
    for target in panel["targets"]:
        shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        kept = re.findall(r"by \(([^)]*)\)", target["expr"])
        assert shown <= {"instance"} | {name for one in kept for name in one.split(", ")}


@pytest.mark.parametrize("panel", EACH)
def test_a_panel_says_what_it_shows(panel: dict[str, Any]) -> None:
    """It has a title, a sentence, a unit and a place."""
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert set(panel["gridPos"]) == {"h", "w", "x", "y"}


def test_every_query_is_on_the_chosen_source() -> None:
    """No panel, target or variable names a data source of another installation."""
    sources = [one["datasource"] for one in nested(DASHBOARD) if "datasource" in one]
    assert len(sources) > len(PANELS)
    assert all(one == CHOSEN for one in sources)
    assert "__inputs" not in DASHBOARD


def test_variables_are_there() -> None:
    """What queries use is defined, and what is defined reads a label that is exposed."""
    defined = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$(?!__)\{?(\w+)", json.dumps(DASHBOARD)))
    assert used == set(defined)
    for one in defined.values():
        if one["type"] == "query":
            metric, label = re.fullmatch(
                r"label_values\((\w+), (\w+)\)", one["definition"]
            ).groups()  # type: ignore[union-attr]
            assert label in exposed()[metric] | {"instance"}


def test_panels_do_not_overlap() -> None:
    """Ids are unique, and no two panels cover each other or leave the grid of 24."""
    ids = [one["id"] for one in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    cells = [one["gridPos"] for one in DASHBOARD["panels"]]
    assert all(one["x"] >= 0 and one["x"] + one["w"] <= 24 for one in cells)
    for a, b in combinations(cells, 2):
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, (a, b)


def test_a_runbook_that_is_named_is_there() -> None:
    """Panels send whoever is on call to sections that exist."""
    runbooks = (ROOT / "docs/howto/runbooks.md").read_text("utf-8")
    named = set(re.findall(r"Sureline\w+", json.dumps(DASHBOARD)))
    assert named
    assert all(f"## {one}\n" in runbooks for one in named)
