"""What an agent's key brings as a source: not believed, and not rejected for that alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.testing import MOMENT
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, AGENT, REVIEWER, Served, serve

FIELDS = "vendor, day, total, number"
POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    reject_audit_rate: 0
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object, required: [total]}}}}
    grounding: {{fields: [{FIELDS}], penalty: 0.3}}
    hypothesis: {{auto: 0.85, reject: 0.55, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
SOURCE = "Harbour Paper, invoice 4711 of 2026-01-14, total 50"
RIGHT = {"vendor": "Harbour Paper", "day": "2026-01-14", "total": 50, "number": "4711"}
MADE_UP = {"vendor": "Acme", "day": "2025-01-01", "total": 9, "number": "1"}
FEW = {**RIGHT, "vendor": "Acme", "day": "2025-01-01"}


@pytest.fixture(scope="module")
def grounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("grounded")
    with serve(folder, policy=POLICY) as one:
        yield one


def decided(served: Served, role: Any, output: Any, **more: Any) -> dict[str, Any]:
    """Decide about an output with the source; each case is a task of its own."""
    task = f"read {output} as {role} {more}"
    found: dict[str, Any] = served.decide(
        role, task=task, output=output, source=SOURCE, **more
    ).json()
    return found


@pytest.mark.parametrize(
    ("role", "output", "more", "route", "code"),
    [
        pytest.param(AGENT, RIGHT, {}, "human_required", "claimed_source", id="unknown"),
        pytest.param(AGENT, MADE_UP, {}, "auto_reject", "fatal_check", id="wrong in any case"),
        pytest.param(AGENT, FEW, {}, "auto_reject", "fatal_check", id="half of it made up"),
        pytest.param(AGENT, {"vendor": "x"}, {}, "auto_reject", "fatal_check", id="no total"),
        pytest.param(ADMIN, RIGHT, {}, "auto_approve", "above_hypothesis", id="vouched for"),
        pytest.param(ADMIN, RIGHT, {"force_human": True}, "human_required", "forced",
                     id="a person must approve"),
        pytest.param(ADMIN, {"vendor": "x"}, {"force_human": True}, "auto_reject", "fatal_check",
                     id="forced, and cannot be used"),
        pytest.param(ADMIN, {**RIGHT, "number": "1", "day": "2020-02-02"},
                     {"force_human": True}, "auto_reject", "below_reject_threshold",
                     id="forced, and too low to keep"),
    ],
)  # fmt: skip
def test_who_decides_follows_the_table(
    grounded: Served, role: Any, output: Any, more: dict[str, Any], route: str, code: str
) -> None:
    """Unknown goes to a person; `force_human` stops automation and, like a switch, no rejection."""
    found = decided(grounded, role, output, **more)
    assert found["route"] == route
    assert code in [one["code"] for one in found["reasons"]]
    assert (found["review_id"] is None) == (route not in {"human_required", "human_review"})


def test_what_to_do_is_said_to_people_and_not_to_the_agent(grounded: Served) -> None:
    """An admin's page names the option of the key; the findings invite nobody to make a source."""
    found = decided(grounded, AGENT, RIGHT, metadata={"n": 1})
    assert {one["code"] for one in found["feedback"]} == {"claimed_source"}
    assert "--trusted-sources" not in str(found)
    page = f"/decisions/{found['id']}"
    assert "--trusted-sources" in Visitor(grounded, ADMIN).get(page).text
    assert "--trusted-sources" not in Visitor(grounded, REVIEWER).get(page).text
