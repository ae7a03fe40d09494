"""`sureline recall` and `sureline incidents` by hand (R14)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal


@pytest.fixture
def acting(started: Run) -> Run:
    """Return `run` where three outputs have acted alone."""
    policy = Path("acting.yaml")
    today = datetime.now(UTC).date()  # noqa: TID251 - the command reads the real clock
    policy.write_text(
        f"""\
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, reject: 0.55, allow_uncertified: true, starts: {today}}}
""",
        encoding="utf-8",
    )
    activated = started("policy", "activate", "acting.yaml", "--by", "Ada", "--note", "try")
    assert activated.exit_code == 0, activated.stderr
    lines = "\n".join(proposal(id=f"d{n}", task=f"read {n}") for n in range(3))
    done = started("decide", text=lines)
    assert done.stdout.count('"auto_approve"') == 3, done.stdout
    return started


def test_a_dry_run_lists_and_changes_nothing(acting: Run) -> None:
    """By default it counts and lists what acted alone."""
    shown = acting("recall", "--slice", "invoices", "--limit", "2")
    assert shown.exit_code == 0
    assert "... and 1 more (--limit)" in shown.stdout
    assert "3 decisions: 0 used already, 3 approvals to revoke" in shown.stdout
    found = json.loads(acting("recall", "--slice", "invoices", "--json").stdout)
    assert [one["decision_id"] for one in found["decisions"]] == ["d0", "d1", "d2"]
    assert "nothing that acted alone" in acting("recall", "--certificate", "none").stdout


def test_requeue_calls_back_and_again_does_nothing(acting: Run) -> None:
    """It says what was done, opens one item a decision, and is idempotent."""
    asked = ("recall", "--since", "2020-01-01", "--requeue", "--reason", "currency", "--by", "Ada")
    first = acting(*asked)
    assert first.exit_code == 0, first.stderr
    assert "3 decisions called back, 3 wait for people, 0 had been used already" in first.stdout
    again = json.loads(acting(*asked, "--json").stdout)
    assert (again["recalled"], again["queued"]) == (0, 0)
    items = json.loads(acting("review", "list", "--json").stdout)
    assert [one["kind"] for one in items["reviews"]].count("recall") == 3
    assert "recall" in acting("logbook").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--slice", "invoices", "--requeue", "--by", "Ada"),
        ("--slice", "invoices", "--requeue", "--reason", "x"),
        ("--slice", "invoices", "--requeue", "--reason", "x", "--by", "guard"),
        ("--since", "soon"),
        ("--policy", "abc"),
    ],
    ids=["nothing", "no reason", "nobody", "the guard", "no moment", "a short hash"],
)
def test_what_is_missing_is_said(acting: Run, arguments: tuple[str, ...]) -> None:
    """A recall without object, reason or name is bad usage, and calls nothing back."""
    assert acting("recall", *arguments).exit_code == 2
    shown = json.loads(acting("recall", "--slice", "invoices", "--json").stdout)
    assert shown["recalled"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            ("--since", "soon"),
            "error: --since: expected a day such as 2026-03-01, or a moment, got 'soon'\n",
            id="no day",
        ),
        pytest.param(
            ("--until", "soon"),
            "error: --until: expected a day such as 2026-03-01, or a moment, got 'soon'\n",
            id="no day at the end",
        ),
        pytest.param(
            (),
            "error: say what to call back: a certificate, model, policy, slice or period\n",
            id="nothing",
        ),
        pytest.param(("--slice", "nope"), "the policy has no slice 'nope' (it has: ", id="typo"),
        pytest.param(
            ("--slice", "nope", "--requeue", "--by", "Ada", "--reason", "x"),
            "the policy has no slice 'nope' (it has: ",
            id="typo, in earnest",
        ),
    ],
)
def test_what_is_wrong_is_said_once_and_by_its_name(
    acting: Run, arguments: tuple[str, ...], said: str
) -> None:
    """The option is named once, all filters are, and a slice that there is not is refused."""
    done = acting("recall", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_an_incident_is_listed_and_closed(acting: Run) -> None:
    """What somebody reports opens it, a note closes it."""
    assert acting("incidents", "list").stdout == "no incident is open\n"
    said = ("outcome", "d1", "--action", "reject", "--by", "Kim", "--source", "incident")
    recorded = acting(*said)
    assert recorded.exit_code == 0, recorded.stderr
    assert "d1" in acting("incidents", "list").stdout
    (one,) = json.loads(acting("incidents", "list", "--json").stdout)["incidents"]
    assert (one["decision_id"], one["source"]) == ("d1", "incident")
    closing = ("incidents", "close", one["id"], "--by", "Ada", "--note")
    assert acting(*closing, " ").exit_code == 2
    assert acting(*closing, "paid back").stdout == f"closed {one['id']}\n"
    assert acting(*closing, "again").exit_code == 2
    assert acting("incidents", "list", "--slice", "invoices").stdout == "no incident is open\n"
    shown = acting("incidents", "list", "--all").stdout
    assert "closed by Ada: paid back" in shown
    assert "incident" in acting("logbook").stdout
