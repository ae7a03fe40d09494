"""`sureline audit`, `watch`, `calibration`, `logbook` and `jobs`: looking after a running gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.cli.audit import walk
from sureline.cli.session import session
from tests.cli.conftest import Run, proposal
from tests.cli.test_cli_import import imported, row, write

BY = ("--by", "Ada")


@pytest.fixture
def automating(started: Run, folder: Path) -> Run:
    """Return `run` where right outputs are automated and every one of them is audited."""
    write(folder / "log.jsonl", [row(n, right=True) for n in range(101, 300) if n % 10])
    imported(started)
    assert started("recalibrate", "--activate", *BY).exit_code == 0
    text = (folder / "policy.yaml").read_text("utf-8")
    text = text.replace("mode: log_only", "mode: route\n  audit_rate: 1.0", 1)
    (folder / "policy.yaml").write_text(text, "utf-8")
    assert started("policy", "activate", "policy.yaml", *BY).exit_code == 0
    return started


def decided(run: Run, *names: str) -> None:
    """Decide the good proposal under these ids; it is automated and drawn."""
    for name in names:
        found = json.loads(run("decide", text=proposal(id=name)).stdout)
        assert (found["route"], found["audit"]) == ("auto_approve", True)


def due(run: Run) -> list[str]:
    return [one["decision_id"] for one in json.loads(run("audit", "list", "--json").stdout)["due"]]


def test_an_audit_is_listed_shown_and_answered(automating: Run) -> None:
    """What is shown is task, source and output; an answer ends it."""
    decided(automating, "d1")
    assert due(automating) == ["d1"]
    shown = automating("audit", "show", "d1").stdout
    assert "Extract vendor" in shown
    assert "Harbour Paper Ltd" in shown
    for hidden in ("confidence", "threshold", "verification", "auto_approve"):
        assert hidden not in shown
    assert '"total": 1240.5' in shown
    assert "output" not in automating("audit", "show", "d1", "--blind").stdout
    answered = automating("audit", "answer", "d1", "--correct", *BY, "--blind", "--json")
    assert json.loads(answered.stdout)["anchored"] is False
    assert due(automating) == []
    assert "no audit is due" in automating("audit", "list").stdout


def test_the_order_is_mixed_and_stays(automating: Run) -> None:
    """It is not the order in which they were decided, and it is the same at each look."""
    names = [f"d{number}" for number in range(12)]
    decided(automating, *names)
    first = due(automating)
    assert sorted(first) == sorted(names)
    assert first != names
    assert due(automating) == first
    automating("audit", "answer", first[3], "--wrong", *BY)
    assert due(automating) == [one for one in first if one != first[3]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["answer", "none", "--correct", *BY], "no decision", id="unknown"),
        pytest.param(["answer", "d1", *BY], "--correct or --wrong", id="no answer"),
        pytest.param(["answer", "d1", "--correct", "--by", " "], "by", id="nobody"),
        pytest.param(["show", "reviewed"], "not drawn", id="not drawn"),
        pytest.param(["answer", "reviewed", "--wrong", *BY], "not drawn", id="picked"),
        pytest.param([*BY], "need a terminal", id="single keys in a pipe"),
        pytest.param([], "--by", id="walking as nobody"),
    ],
)
def test_what_is_no_audit_is_refused(arguments: list[str], said: str, automating: Run) -> None:
    """Nothing is recorded, and the message says why."""
    decided(automating, "d1")
    automating("decide", text=proposal(id="reviewed", output={"total": 3}))
    result = automating("audit", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert due(automating) == ["d1"]


def keys(pressed: str) -> Any:
    """Return a function that gives one key after the other."""
    left: Iterator[str] = iter(pressed)
    return lambda: next(left)


def test_walking_through_takes_single_keys(
    automating: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other keys are asked again, what is skipped stays due, and q ends it."""
    decided(automating, *(f"d{number}" for number in range(5)))
    names = due(automating)
    with session(None, "default") as opened:
        items = opened.run(opened.services.auditor.due())
        assert walk(opened, items, by="Ada", blind=False, key=keys("cxswq")) == 2
    assert due(automating) == names[1:2] + names[3:]
    assert "recorded: correct" in capsys.readouterr().out


def test_walking_blind_shows_the_output_after_a_key(
    automating: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The person settles what is right first, and the label says so."""
    decided(automating, "d1")
    shown: list[str] = []

    def key() -> str:
        shown.append(capsys.readouterr().out)
        return "c"

    with session(None, "default") as opened:
        items = opened.run(opened.services.auditor.due())
        walk(opened, items, by="Ada", blind=True, key=key)
        (recorded,) = opened.run(opened.services.ledger.outcomes("default", "d1"))
    assert ["output:" in one for one in shown] == [False, True]
    assert recorded.anchored is False


def test_an_incident_says_that_it_overrides(automating: Run) -> None:
    """The approval stays in the ledger, and the label is what turned out."""
    decided(automating, "d1")
    automating("audit", "answer", "d1", "--correct", *BY)
    late = ("outcome", "d1", "--action", "reject", "--source", "incident", "--by", "Kim")
    said = automating(*late).stdout
    assert "counts as wrong" in said
    assert "overrides 'correct' from audit by Ada, which stays in the ledger" in said
    weaker = automating("outcome", "d1", "--action", "approve", "--by", "Lee")
    assert weaker.exit_code == 0
    assert "the label stays 'wrong' from incident by Kim" in weaker.stdout
    found = json.loads(automating(*late, "--json").stdout)
    assert found["overrides"] is not None
    assert found["overridden_by"] is None


def test_a_second_audit_says_that_it_overrides(automating: Run) -> None:
    """Who answers an audit that was answered before is told so, and the earlier one is kept."""
    decided(automating, "d1")
    assert "overrides" not in automating("audit", "answer", "d1", "--correct", *BY).stdout
    said = automating("audit", "answer", "d1", "--wrong", "--by", "Kim").stdout
    assert "d1: wrong, by Kim" in said
    assert "this overrides 'correct' from audit by Ada, which stays in the ledger" in said
    found = json.loads(automating("audit", "answer", "d1", "--wrong", *BY, "--json").stdout)
    assert found["overrides"] is not None


def test_unreviewed_is_never_a_label(automating: Run) -> None:
    """Silence about automated outputs changes no count, however long it lasts."""
    before = json.loads(automating("recalibrate", "--json").stdout)
    decided(automating, "d1", "d2", "d3")
    after = json.loads(automating("recalibrate", "--json").stdout)
    assert after["id"] == before["id"]
    watched = json.loads(automating("watch", "--json").stdout)
    assert (watched["slices"][0]["guard"]["labels"], watched["slices"][0]["due"]) == (0, 3)


def test_a_fall_is_seen_acted_on_and_written_down(automating: Run) -> None:
    """Watching trips the slice; the logbook says when, who and why; a person resets it."""
    names = [f"d{number}" for number in range(8)]
    decided(automating, *names)
    assert automating("watch").exit_code == 0
    for name in names:
        automating("audit", "answer", name, "--wrong", *BY)
    result = automating("watch")
    assert result.exit_code == 1
    assert "TRIPPED" in result.stdout
    assert "its switch is on now" in result.stdout
    stopped = json.loads(automating("decide", text=proposal(id="later")).stdout)
    assert stopped["route"] == "human_required"
    assert "slice_tripped" in [one["code"] for one in stopped["reasons"]]
    entries = json.loads(automating("logbook", "--json").stdout)["entries"]
    assert [(one["change"], one["by"]) for one in entries][-1] == ("guard", "guard")
    assert "8 of the last 8 audited" in entries[-1]["note"]
    reset = ("switch", "off", "--slice", "invoices", "--reason", "mended", *BY)
    assert automating(*reset).exit_code == 0
    assert automating("watch").exit_code == 0
    assert "switch off" in automating("logbook").stdout


def test_a_calibration_is_taken_back_in_one_command(automating: Run, folder: Path) -> None:
    """The thresholds before and after are shown, and what held before holds again."""
    first = json.loads(automating("calibration", "list", "--json").stdout)["calibrations"][0]
    assert first["active"] is True
    write(folder / "log.jsonl", [row(n, right=n % 3 == 0) for n in range(1001, 1200) if n % 10])
    imported(automating)
    second = json.loads(automating("recalibrate", "--json").stdout)["id"]
    changed = automating("calibration", "activate", second, *BY)
    assert f"{second} is active now, instead of {first['id']}" in changed.stdout
    assert json.loads(automating("decide", text=proposal()).stdout)["certificate"] is None
    back = json.loads(automating("calibration", "rollback", *BY, "--json").stdout)
    assert (back["before"], back["after"]) == (second, first["id"])
    (threshold,) = back["thresholds"]
    assert threshold["before"] is None
    decided(automating, "again")
    again = automating("calibration", "rollback", *BY)
    assert again.exit_code == 1
    assert "no earlier calibration" in again.stderr
    notes = [
        one["note"]
        for one in json.loads(automating("logbook", "--json").stdout)["entries"]
        if one["change"] == "calibration"
    ]
    assert notes == ["", "", f"rollback from {second}"]


def test_a_calibration_can_hold_for_a_share_first(automating: Run, folder: Path) -> None:
    """What the others keep is told; activating it again completes it, and it can be taken back."""
    first = json.loads(automating("calibration", "list", "--json").stdout)["calibrations"][0]["id"]
    write(folder / "log.jsonl", [row(n) for n in range(1001, 1040)])
    imported(automating)
    second = json.loads(automating("recalibrate", "--json").stdout)["id"]
    activate = ("calibration", "activate", second, *BY)
    staged = automating(*activate, "--share", ".1").stdout
    assert f"{second} holds for 10 % of the decisions now; the others keep {first}" in staged
    listed = automating("calibration", "list").stdout
    assert "active for 10 %" in listed
    assert "active for 90 %" in listed
    assert "active for 10 %" in automating("calibration", "show", second).stdout
    assert "for 10 % of the decisions" in automating("logbook").stdout
    for share in ("0", "1.1", "nan"):
        refused = automating(*activate, "--share", share)
        assert (refused.exit_code, "share: expected a number" in refused.stderr) == (2, True)
    back = automating("calibration", "rollback", *BY).stdout
    assert f"{first} is active now, instead of {second}" in back
    automating(*activate, "--share", "0.1")
    assert f"{second} is active now, instead of {first}" in automating(*activate).stdout
    shares = [
        one["share"]
        for one in json.loads(automating("calibration", "list", "--json").stdout)["calibrations"]
    ]
    assert shares == [1.0, 0.0]


def test_the_first_calibration_can_hold_for_a_share(started: Run) -> None:
    """People decide on the others; taken back, no calibration is active."""
    only = json.loads(started("recalibrate", "--json").stdout)["id"]
    staged = started("calibration", "activate", only, *BY, "--share", "0.1").stdout
    assert "people decide on the others, as none was active before" in staged
    back = started("calibration", "rollback", *BY).stdout
    assert f"no calibration is active now, instead of {only}" in back
    assert started("calibration", "rollback", *BY).exit_code == 1


def test_a_calibration_is_shown_by_how_its_id_begins(automating: Run) -> None:
    """Eight characters or more will do if they name one."""
    (one,) = json.loads(automating("calibration", "list", "--json").stdout)["calibrations"]
    shown = automating("calibration", "show", one["id"][:12])
    assert one["id"] in shown.stdout
    assert "active" in shown.stdout
    body = json.loads(automating("calibration", "show", one["id"], "--json").stdout)
    assert body["certificates"][0]["slice_key"] == "invoices"
    assert automating("calibration", "show", "cal_").exit_code == 2
    assert automating("calibration", "activate", "cal_unknown", *BY).exit_code == 2
    assert automating("calibration", "activate", one["id"], "--by", " ").exit_code == 2


@pytest.mark.parametrize(
    ("since", "code", "seen"),
    [("2020-01-01", 0, True), ("2999-01-01T00:00+02:00", 0, False), ("yesterday", 2, False)],
)
def test_the_logbook_begins_where_it_is_told_to(
    since: str, code: int, seen: bool, started: Run
) -> None:
    """A day or a moment, UTC unless it says otherwise."""
    result = started("logbook", "--since", since)
    assert result.exit_code == code
    assert ("first policy" in result.stdout) is seen


def test_jobs_are_listed_and_run_by_hand(started: Run) -> None:
    """Running one is remembered; a name that is none is refused with those that there are."""
    first = json.loads(started("jobs", "list", "--json").stdout)["jobs"]
    assert [(one["name"], one["finished_at"]) for one in first] == [
        ("watch", None),
        ("recalibrate", None),
        ("canaries", None),
        ("retention", None),
        ("verify", None),
    ]
    assert "all calm in 1 slices" in started("jobs", "run", "watch").stdout
    assert "the ledger holds" in started("jobs", "run", "verify").stdout
    assert json.loads(started("jobs", "run", "recalibrate", "--json").stdout)["ok"] is True
    assert "is proposed" in started("jobs", "list").stdout
    unknown = started("jobs", "run", "wash")
    assert unknown.exit_code == 2
    assert "watch, recalibrate" in unknown.stderr


@pytest.mark.usefixtures("empty_store")
def test_a_job_that_fails_says_why(run: Run) -> None:
    """A store without a policy cannot be watched: exit code 1, and the reason is kept."""
    result = run("jobs", "run", "watch")
    assert result.exit_code == 1
    assert "no policy is active" in result.stdout
    assert "failed 1 times: no policy is active" in run("jobs", "list").stdout
