"""`sureline review`: the queue on the command line, to the end of an item's life."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, proposal

STEER = (
    "Dear \x1b[1A\x1b[2Kapproved \x1b]8;;http://x\x07ok\x1b]8;;\x07 \x9b31m \u202etxt.exe\x0bend"
)
POLICY = """\
version: 1
action_classes:
  payout: {stakes: irreversible, approvals: 2}
slices:
  replies: {output: {structured: false}, mode: log_only, review: {undo_seconds: UNDO}}
  invoices:
    mode: log_only
    weights: {verification: 1}
    output: {json_schema: {type: object}}
    review: {undo_seconds: UNDO}
"""


@pytest.fixture
def queue(run: Run, folder: Path) -> Run:
    """Return `run` in a folder whose store has three items that wait for people."""
    (folder / "policy.yaml").write_text(POLICY.replace("UNDO", "3600"), encoding="utf-8")
    submit(run, "a", slice_key="replies", output="Dear Ada, yes.")
    submit(run, "b", slice_key="invoices", output={"total": 12})
    submit(run, "c", slice_key="invoices", output={"to": "x"}, action_class="payout")
    return run


def submit(run: Run, name: str, **changes: Any) -> None:
    line = proposal(id=name, **changes)
    assert run("decide", "-", "--policy", "policy.yaml", text=line).exit_code == 1


def said(run: Run, *arguments: str) -> Any:
    """Run a command with --json; return what it printed."""
    done = run("review", *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_list_shows_what_waits_in_working_order(queue: Run) -> None:
    """The highest stakes come first; the table and the JSON name the same items."""
    assert said(queue, "list")["reviews"][0]["id"] == "c"
    text = queue("review", "list").stdout
    assert all(f"\n{name}  " in text for name in "abc")
    assert [one["id"] for one in said(queue, "list", "--slice", "replies")["reviews"]] == ["a"]
    assert queue("review", "list", "--over").stdout == "nothing is over yet\n"


def test_an_item_is_shown_with_what_is_needed_to_decide(queue: Run) -> None:
    """Why it is here, the task, the output and the digest of what is shown."""
    text = queue("review", "show", "b").stdout
    shown = said(queue, "show", "b")
    assert "Extract vendor" in text
    assert '"total": 12' in text
    assert f"digest: {shown['review']['digest']}" in text
    assert shown["output"] == {"total": 12}
    assert all(one["message"] in text for one in shown["reasons"])


def test_a28_what_an_output_says_steers_no_terminal(queue: Run) -> None:
    """Escape sequences, C1 controls, bidi overrides and odd ends of lines are spelled out."""
    submit(queue, "evil", slice_key="replies", output=STEER, task=STEER)
    for arguments in (["show", "evil"], ["list"], ["claim", "evil", "--by", STEER]):
        text = queue("review", *arguments).stdout
        assert not set(text) & set("\x1b\x07\x9b\u202e\x0b"), arguments
    assert "\\u001b[2Kapproved" in queue("review", "show", "evil").stdout


def test_an_item_goes_from_hand_to_hand(queue: Run) -> None:
    """Claimed, skipped, escalated: each says who has it now, and the next is somebody else's."""
    assert queue("review", "claim", "a", "--by", "ada").stdout.startswith("a is claimed by ada")
    refused = queue("review", "approve", "a", "--by", "kim")
    assert refused.exit_code == 2
    assert "claimed by ada" in refused.stderr
    assert said(queue, "skip", "a", "--by", "ada", "--comment", "no idea")["review"]["state"] == (
        "pending"
    )
    taken = said(queue, "claim", "--by", "ada", "--slice", "replies")
    assert taken["review"] is None
    assert queue("review", "claim", "--by", "ada", "--slice", "replies").stdout == (
        "nothing waits for you\n"
    )
    up = said(queue, "escalate", "a", "--by", "kim")["review"]
    assert (up["state"], up["level"]) == ("escalated", 1)


def test_a_verdict_is_given_and_taken_back(queue: Run) -> None:
    """Within its time a verdict can be undone; then another can be given."""
    assert "can be undone" in queue("review", "approve", "a", "--by", "ada").stdout
    assert queue("review", "reject", "a", "--by", "kim").exit_code == 2
    assert said(queue, "undo", "a", "--by", "ada")["review"]["state"] == "claimed"
    done = said(queue, "reject", "a", "--by", "ada", "--reason", "wrong_tone")["review"]
    assert (done["verdict"]["action"], done["verdict"]["reason"]) == ("reject", "wrong_tone")
    assert [one["id"] for one in said(queue, "list", "--over")["reviews"]] == ["a"]


def test_an_edit_is_the_new_content(queue: Run) -> None:
    """An edit is checked, makes a version of its own, and names who made it."""
    broken = queue("review", "edit", "b", "--by", "ada", "--output", "[1]")
    assert (broken.exit_code, "cannot be used" in broken.stderr) == (2, True)
    assert queue("review", "edit", "b", "--by", "ada", "--output", "{").exit_code == 2
    done = said(queue, "edit", "b", "--by", "ada", "--output", '{"total": 13}')["review"]
    assert (done["version"], done["edited_by"], done["verdict"]["edited_fields"]) == (
        2,
        "ada",
        ["total"],
    )
    assert said(queue, "show", "b")["output"] == {"total": 13}


def test_a_verdict_on_what_was_not_shown_is_refused(queue: Run) -> None:
    """A digest that is not that of the item's content is told so; an unknown item is not found."""
    stale = queue("review", "approve", "a", "--by", "ada", "--digest", "0" * 64)
    assert (stale.exit_code, "has changed since" in stale.stderr) == (2, True)
    missing = queue("review", "show", "nothing", "--json")
    assert missing.exit_code == 2
    assert json.loads(missing.stderr)["error"]["code"] == "NotFound"


def test_several_must_approve(queue: Run) -> None:
    """An action class that asks for two gets two; one person is not two."""
    first = queue("review", "approve", "c", "--by", "ada")
    assert first.stdout == "c is pending: 1 more must approve\n"
    assert queue("review", "approve", "c", "--by", "ada").exit_code == 2
    assert "approve by kim" in queue("review", "approve", "c", "--by", "kim").stdout


def test_many_are_answered_as_they_were_listed(queue: Run, folder: Path) -> None:
    """What changed since the list is left and named, with exit code 1; the others are done."""
    (folder / "seen.json").write_text(json.dumps(said(queue, "list")), encoding="utf-8")
    queue("review", "edit", "b", "--by", "kim", "--output", '{"total": 13}')
    queue("review", "undo", "b", "--by", "kim")
    done = queue("review", "bulk", "approve", "seen.json", "--by", "ada", "--json")
    assert done.exit_code == 1
    found = {one["id"]: one for one in json.loads(done.stdout)["items"]}
    assert found["a"]["review"]["state"] == "decided"
    assert found["b"]["problem"]["code"] == "Conflict"
    assert "only reversible" in found["c"]["problem"]["detail"]
    rest = queue("review", "bulk", "reject", "seen.json", "--by", "kim")
    assert rest.exit_code == 1
    assert rest.stdout.startswith("2 of 3: reject\nleft as it was: a: ")


@pytest.mark.parametrize("text", ["", "[]", '{"reviews": [{"id": 1, "digest": 2}]}'])
def test_what_is_no_list_is_refused(queue: Run, text: str) -> None:
    """Anything else than a list of items is bad input, and nothing is decided."""
    done = queue("review", "bulk", "reject", "-", "--by", "ada", text=text)
    assert (done.exit_code, "review list --json" in done.stderr) == (2, True)
    assert len(said(queue, "list")["reviews"]) == 3


@pytest.mark.parametrize("action", ["edit", "expired"])
def test_only_some_acts_are_done_in_bulk(queue: Run, action: str) -> None:
    """An edit is about one item."""
    listed = json.dumps(said(queue, "list"))
    assert queue("review", "bulk", action, "-", "--by", "ada", text=listed).exit_code == 2


def test_a_log_that_is_imported_waits_for_nobody(queue: Run, folder: Path) -> None:
    """What was decided elsewhere long ago, with its outputs or by its signals, opens no items."""
    row = {"prompt": "t", "answer": {"total": 1}, "checks": 0.5, "right": True}
    (folder / "log.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    whole = ("--map", "task=prompt", "--map", "output=answer")
    signals = ("--map", "signal.verification=checks")
    for maps in (whole, (*signals, "--label-source", "human")):
        given = ("--map", "label=right", "--slice", "invoices", "--labelled", "all", "--json")
        done = queue("import", "log.jsonl", *maps, *given)
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["new"] == 1
    assert len(said(queue, "list")["reviews"]) == 3
