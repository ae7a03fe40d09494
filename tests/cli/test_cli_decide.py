"""`sureline decide`: one answer per line, whatever the lines hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import GOOD, Run, proposal

ROUTING = """
version: 1
slices:
  invoices:
    mode: route
    weights: {verification: 1}
    output: {json_schema: {type: object, required: [vendor]}}
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: "%s"}
"""


def answers(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_answers_come_in_order_one_a_line(started: Run) -> None:
    """Each line is answered by a decision in the same place; blank lines are skipped."""
    lines = [proposal(id="a"), "", proposal(id="b", output="no object"), "  ", proposal(id="c")]
    result = started("decide", text="\n".join(lines))
    assert [answer["id"] for answer in answers(result.stdout)] == ["a", "b", "c"]
    assert result.exit_code == 1


def test_nothing_to_decide_is_no_error(started: Run) -> None:
    """An empty input has nothing that was refused."""
    result = started("decide", text="")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        pytest.param("{", "line 1", id="cut off"),
        pytest.param("[1]", "object", id="a list"),
        pytest.param('"text"', "object", id="a text"),
        pytest.param('{"slice_key": "invoices"}', "task", id="fields missing"),
        pytest.param(proposal(colour="red"), "colour", id="unknown field"),
        pytest.param(proposal(task=5), "task", id="wrong type"),
        pytest.param(proposal(stakes="huge"), "stakes", id="wrong value"),
        pytest.param(proposal(deadline=-1), "deadline", id="out of range"),
        pytest.param(proposal(slice_key="bills"), "it has: invoices", id="unknown slice"),
        pytest.param('{"task": 1, "task": 2}', "twice", id="duplicate key"),
        pytest.param('{"task": NaN}', "NaN", id="not a number"),
        pytest.param("[" * 5000, "deeper", id="depth bomb"),
        pytest.param('{"n": ' + "9" * 5000 + "}", "longer than 400 digits", id="long integer"),
        pytest.param(b'{"task": "\xff"}', "UTF-8", id="not UTF-8"),
        pytest.param('{"task": "' + "x" * 2_200_000 + '"}', "bytes", id="overlong"),
    ],
)
def test_a_bad_line_is_answered_and_the_rest_goes_on(
    line: str | bytes, fragment: str, started: Run
) -> None:
    """A bad line is reported with its number on both streams, in its place, and exits with 2."""
    raw = line if isinstance(line, bytes) else line.encode()
    lines = [proposal(id="before").encode(), raw, proposal(id="after").encode()]
    result = started("decide", text=b"\n".join(lines) + b"\n")
    before, bad, after = answers(result.stdout)
    assert (before["id"], after["id"]) == ("before", "after")
    assert bad["line"] == 2
    assert bad["approved"] is False
    assert fragment in bad["error"]["message"]
    assert result.stderr.startswith("line 2: ")
    assert result.exit_code == 2


def test_many_lines_are_answered_in_their_order(started: Run) -> None:
    """More lines than are decided at once, bad ones among them, are answered one by one."""
    lines = [
        "{" if number % 50 == 7 else proposal(id=str(number), task=f"Read {number}")
        for number in range(150)
    ]
    found = answers(started("decide", text="\n".join(lines)).stdout)
    assert [one.get("id", f"line {one.get('line')}") for one in found] == [
        f"line {number + 1}" if number % 50 == 7 else str(number) for number in range(150)
    ]


def test_a_retry_knows_what_it_retries(started: Run) -> None:
    """A line that retries the one before it counts it, though both are there at once."""
    lines = [proposal(id="1"), *(proposal(id=str(n), retry_of=str(n - 1)) for n in (2, 3, 4))]
    found = answers(started("decide", text="\n".join(lines)).stdout)
    assert [one["attempt"] for one in found] == [1, 2, 3, 4]


def test_the_same_id_with_the_same_content_is_the_same_decision(started: Run) -> None:
    """Repeating a file repeats its answers, byte for byte."""
    lines = "\n".join(proposal(id=name) for name in "abc")
    assert started("decide", text=lines).stdout == started("decide", text=lines).stdout


def test_the_same_id_with_other_content_is_a_conflict(started: Run) -> None:
    """An id names one content for ever; the conflict is a bad line."""
    result = started("decide", text=proposal(id="a") + "\n" + proposal(id="a", task="Another"))
    first, second = answers(result.stdout)
    assert first["id"] == "a"
    assert second["error"]["code"] == "Conflict"
    assert result.exit_code == 2


def test_all_approved_exits_with_0(run: Run, folder: Path) -> None:
    """The exit code says whether everything may act, so that a script can branch on it."""
    from datetime import UTC, datetime

    today = datetime.now(UTC).date()  # noqa: TID251 - the command reads the real clock
    (folder / "routing.yaml").write_text(ROUTING % today.isoformat())
    approved = run("decide", "--policy", "routing.yaml", text=proposal())
    assert answers(approved.stdout)[0]["route"] == "auto_approve"
    assert approved.exit_code == 0
    mixed = run("decide", text=proposal() + "\n" + proposal(output={}))
    assert mixed.exit_code == 1


def test_the_environments_switch_holds(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SURELINE_FORCE_HUMAN sends everything to people, whatever the policy says."""
    from datetime import UTC, datetime

    today = datetime.now(UTC).date()  # noqa: TID251 - the command reads the real clock
    (folder / "routing.yaml").write_text(ROUTING % today.isoformat())
    monkeypatch.setenv("SURELINE_FORCE_HUMAN", "1")
    result = run("decide", "--policy", "routing.yaml", text=proposal())
    assert answers(result.stdout)[0]["route"] == "human_required"
    assert result.exit_code == 1


def test_without_any_policy_nothing_is_decided(run: Run) -> None:
    """A store without a policy is an error, not a default."""
    result = run("decide", text=proposal())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "polic" in result.stderr


def test_a_file_that_is_not_there_is_named(started: Run) -> None:
    """The error names the file."""
    result = started("decide", "nowhere.jsonl")
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr


def test_a_faulty_policy_names_file_and_line(run: Run, folder: Path) -> None:
    """A policy with a misspelt key decides nothing and says where the key is."""
    (folder / "p.yaml").write_text("version: 1\nslices:\n  invoices:\n    mood: route\n")
    result = run("decide", "--policy", "p.yaml", text=proposal())
    assert result.exit_code == 2
    assert "p.yaml:4" in result.stderr
    assert "mood" in result.stderr


def test_a_source_with_parts_is_read(started: Run) -> None:
    """A source may be a list of documents."""
    parts = [{"ref": "page 1", "text": GOOD["source"]}, {"ref": "page 2", "text": "Thanks"}]
    result = started("decide", text=proposal(source=parts))
    assert answers(result.stdout)[0]["signals"]["verification"]["value"] == 1.0
