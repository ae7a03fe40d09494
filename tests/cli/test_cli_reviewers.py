"""`sureline reviewers` and `sureline golden`: whether people look, and what they corrected."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run, proposal


@pytest.fixture
def reviewed(started: Run) -> Run:
    """Return `run` in a folder with an approved, a rejected and an edited output."""
    for name in ("d1", "d2", "d3"):
        started("decide", text=proposal(id=name))
    started("review", "approve", "d1", "--by", "Ada")
    started("review", "reject", "d2", "--by", "Ada")
    edited = {"vendor": "Harbour Paper Ltd", "date": "2026-01-14", "total": 1204.5}
    started("review", "edit", "d3", "--by", "Bob", "--output", json.dumps(edited))
    return started


def test_the_lead_sees_everybody(reviewed: Run) -> None:
    """Items, approvals and streaks are told for each person; nobody is named without cause."""
    found = json.loads(reviewed("reviewers", "--json").stdout)
    people = {one["name"]: one for one in found["reviewers"]}
    assert (people["Ada"]["items"], people["Ada"]["approved"], people["Ada"]["streak"]) == (2, 1, 0)
    assert people["Ada"]["honeypots"]["shown"] == 0
    assert people["Ada"]["honeypots"]["share"] is None
    assert found["flagged"] == []
    assert "none shown yet" in reviewed("reviewers").stdout


def test_a_person_sees_themselves_only(reviewed: Run) -> None:
    """With a name, nobody else's figures and no agreement are shown."""
    found = json.loads(reviewed("reviewers", "--only", "Bob", "--json").stdout)
    assert [one["name"] for one in found["reviewers"]] == ["Bob"]
    assert found["agreement"] == {"by_slice": {}, "by_pair": []}
    assert "Ada" not in reviewed("reviewers", "--only", "Bob").stdout


def test_without_reviews_it_says_so(started: Run) -> None:
    """A store in which nobody reviewed has no figures, and no row of zeros."""
    started("decide", text=proposal(id="d1"))
    assert "nobody has reviewed" in started("reviewers").stdout


def test_it_says_where_nothing_could_be_planted(started: Run) -> None:
    """Twenty items without a label among them: one belonged there, and there was nothing for it."""
    started("review", "list")
    for number in range(20):
        started("decide", text=proposal(id=f"d{number}"))
    started("review", "list")
    (found,) = json.loads(started("reviewers", "--json").stdout)["unplanted"]
    assert (found["slice_key"], found["reason"]) == ("invoices", "no_material")
    assert f"invoices: {found['sentence']}" in started("reviewers").stdout
    assert "could be planted" not in started("reviewers", "--only", "Ada").stdout


@pytest.fixture
def released(reviewed: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return `run` where the verdicts are released: what can be undone is in no golden set yet."""
    from datetime import timedelta

    from sureline.adapters.clock import SystemClock

    later = SystemClock.now

    monkeypatch.setattr(SystemClock, "now", lambda self: later(self) + timedelta(minutes=5))
    reviewed("review", "list")
    return reviewed


def test_edits_are_cases(released: Run) -> None:
    """Each edit is one line: task, sources, what came, what it should have been; nobody's name."""
    (line,) = released("golden", "export").stdout.splitlines()
    case = json.loads(line)
    assert (case["id"], case["slice_key"]) == ("d3", "invoices")
    assert (case["draft"]["total"], case["expected"]["total"]) == (1240.5, 1204.5)
    assert case["edited_fields"] == ["total"]
    assert case["source"][0]["text"].startswith("INVOICE")
    assert "Bob" not in line
    assert json.loads(released("golden", "export", "--json").stdout)["cases"] == [case]
    assert released("golden", "export", "--slice", "letters").stdout == ""


def test_edited_fields_are_counted(released: Run) -> None:
    """The fields that editors change are listed with how often."""
    found = json.loads(released("golden", "fields", "--json").stdout)
    assert found["fields"] == [
        {"slice_key": "invoices", "field": "total", "changed": 1, "edits": 1}
    ]
    assert "1 of 1" in released("golden", "fields").stdout


def test_what_was_erased_is_no_case(released: Run) -> None:
    """An erased decision leaves the golden set."""
    released("ledger", "erase", "d3", "--by", "dpo", "--reason", "asked")
    assert released("golden", "export").stdout == ""
    assert "nobody has edited" in released("golden", "fields").stdout
