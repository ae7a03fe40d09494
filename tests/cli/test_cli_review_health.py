"""`sureline review health`, and what `sureline review list --for` offers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sureline.application.review.queue_health import QueueReport, QueueRow
from sureline.cli.review_health import show_queue, span
from sureline.core.review.overload import Load, overload_of
from tests.cli.conftest import Run, proposal

POLICY = """\
version: 1
defaults: {output: {structured: false}}
slices: {letters: , notes: }
groups:
  post: {members: [ada], slices: [letters], on_call: {person: bo}}
  desk: {members: [bo], slices: [notes]}
"""


@pytest.fixture
def queue(run: Run, folder: Path) -> Run:
    """Return `run` in a folder whose store has a letter and a note that wait for people."""
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    for key in ("letters", "notes"):
        line = proposal(id=key, slice_key=key, output="Dear Ada, yes.")
        run("decide", "--policy", "policy.yaml", text=line)
    return run


def test_the_health_of_the_queue_is_told(queue: Run) -> None:
    """Figures come by slice and by group, as JSON and as tables; calm is exit code 0."""
    result = queue("review", "health", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [(one["name"], one["group"], one["open"]) for one in found["slices"]] == [
        ("letters", "post", 1),
        ("notes", "desk", 1),
    ]
    assert [one["name"] for one in found["groups"]] == ["desk", "post"]
    assert (found["warnings"], found["slices"][0]["verdict_p95_seconds"]) == ([], None)
    shown = queue("review", "health").stdout
    assert "The queue, by slice" in shown
    assert "The queue, by group" in shown


def test_an_overload_names_slice_and_lever(capsys: pytest.CaptureFixture[str]) -> None:
    """What is too much stands below the tables, on a line of its own."""
    at = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    load = Load(
        days=7.0,
        arrived=200,
        audits=80,
        decided=140,
        expired=0,
        open=60,
        oldest=timedelta(hours=30),
        patience=timedelta(days=2),
        is_routed=False,
    )
    row = QueueRow(
        name="letters",
        group=None,
        load=load,
        escalated=0,
        oldest=at - timedelta(hours=30),
        waits={20: 140},
        overload=overload_of(load),
    )
    report = QueueReport(at=at, slices=(row,), groups=())
    show_queue(report)
    said = " ".join(capsys.readouterr().out.split())
    assert "OVERLOAD: letters is overloaded: in 7 days 200 came and 140 were decided" in said
    assert "80 of 200 are audits: fewer audits are enough (audit_rate); or 1.4 times" in said
    assert len(report.warnings) == 1


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (None, ""),
        (timedelta(seconds=45), "45 s"),
        (timedelta(minutes=90), "1.5 h"),
        (timedelta(days=3), "3.0 d"),
    ],
)
def test_a_span_is_told_in_its_largest_unit(length: timedelta | None, said: str) -> None:
    """What is not known is left empty."""
    assert span(length) == said


def test_a_list_can_be_what_somebody_is_offered(queue: Run) -> None:
    """Their groups' items, and those of others' that went a step up to them."""

    def offered(name: str) -> list[str]:
        found = json.loads(queue("review", "list", "--for", name, "--json").stdout)
        return sorted(one["id"] for one in found["reviews"])

    assert (offered("ada"), offered("bo"), offered("mo")) == (
        ["letters"],
        ["notes"],
        ["letters", "notes"],
    )
    queue("review", "escalate", "letters", "--by", "ada")
    assert offered("bo") == ["letters", "notes"]
    assert "nothing waits for you" not in queue("review", "claim", "--by", "bo").stdout
