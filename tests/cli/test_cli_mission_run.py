"""`sureline mission run` with real commands: it invokes, judges, and tells what happens."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.supervised import RUN, is_running, write_mission

EVERY = "trigger: {every: 0.2s}\n"
NOT_YET = 'check: {command: ["false"]}\n'
ACHIEVED = 'check: {command: ["true"]}\n'
pytestmark = pytest.mark.sqlite_file


class Ended:
    """A supervisor that has ended: its exit code, its events, and what it wrote for people."""

    def __init__(self, run: Run, folder: Path, mission: str, *command: str) -> None:
        write_mission(folder, mission)
        result = run(*RUN, *command)
        self.code, self.stderr = result.exit_code, result.stderr
        self.lines = [json.loads(line) for line in result.stdout.splitlines()]

    def named(self, event: str) -> list[dict[str, Any]]:
        """Return the events of that name."""
        return [one for one in self.lines if one["event"] == event]


def test_it_invokes_until_the_check_says_so(folder: Path, run: Run) -> None:
    """Two invocations, a check that says no; two more, and one that says yes: exit code 0."""
    command = 'echo "$SURELINE_INVOCATION" >> seen; cp "$SURELINE_CONTEXT" context'
    check = 'check: {command: [sh, -c, "test $(wc -l < seen) -ge 4"]}\n'
    ended = Ended(run, folder, EVERY + check, "sh", "-c", command)
    assert ended.code == 0
    assert (folder / "seen").read_text().split() == ["1", "2", "3", "4"]
    assert [one["facts"]["achieved"] for one in ended.named("evaluated")] == [False, True]
    assert ended.lines[-1]["event"] == "completed"
    assert "not achieved, confidence 1.00" in (folder / "context").read_text()
    shown = json.loads(run("mission", "show", "m1", "--json").stdout)
    assert (shown["state"], shown["invocations"]) == ("completed", 4)
    again = Ended(run, folder, EVERY + check, "touch", "ran")
    assert (again.code, (folder / "ran").exists()) == (0, False)


def test_the_command_does_not_speak_for_the_supervisor(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a command writes is on standard error; it is told nothing of the store."""
    monkeypatch.setenv("SURELINE_STORE", "sqlite:///other.db")
    command = 'echo \'{"event":"failed"}\'; env | grep -c SURELINE_STORE'
    ended = Ended(run, folder, EVERY + ACHIEVED, "sh", "-c", command)
    assert ended.code == 0
    assert ended.named("failed") == []
    assert '{"event":"failed"}\n0\n' in ended.stderr


def test_what_the_command_writes_may_go_to_a_file(folder: Path, run: Run) -> None:
    """With --log standard error holds only what sureline says."""
    write_mission(folder, EVERY + ACHIEVED)
    result = run(*RUN[:-1], "--log", "agent.log", "--", "sh", "-c", "echo out; echo err >&2")
    assert result.exit_code == 0
    assert sorted((folder / "agent.log").read_text().split()) == ["err", "err", "out", "out"]
    assert "out" not in result.stderr


def test_at_the_ceiling_it_fails(folder: Path, run: Run) -> None:
    """A mission that is not achieved at its last invocation has failed: exit code 1."""
    limits = "limits: {max_invocations: 3}\n"
    ended = Ended(run, folder, EVERY + NOT_YET + limits, "true")
    assert ended.code == 1
    assert ended.lines[-1]["cause"] == "ceiling"
    assert len(ended.named("process_started")) == 3


def test_an_invocation_that_takes_too_long_is_ended(folder: Path, run: Run) -> None:
    """Past its timeout the command is ended; that is an invocation, and one that failed."""
    limits = "timeout: 0.2s\nlimits: {max_invocations: 1}\n"
    ended = Ended(run, folder, EVERY + NOT_YET + limits, "sleep", "600")
    (process,) = ended.named("process_ended")
    assert (process["ended_for"], process["exit_code"]) == ("timeout", -15)
    assert ended.code == 1


def test_what_a_command_leaves_in_the_background_is_ended(folder: Path, run: Run) -> None:
    """When an invocation is over, nothing that it has started runs on."""
    command = "sleep 600 & echo $! > left"
    ended = Ended(run, folder, EVERY + ACHIEVED, "sh", "-c", command)
    assert ended.code == 0
    assert not is_running(int((folder / "left").read_text()))


def test_files_of_a_queue_are_worked_off(folder: Path, run: Run) -> None:
    """The oldest comes first; files end in done/ or failed/, and one that was claimed is first."""
    queue = folder / "queue"
    claimed = queue / "claimed" / "m1"
    claimed.mkdir(parents=True)
    (claimed / "0").write_text("left over")
    for at, name in enumerate(("2", "bad", "1")):
        (queue / name).write_text(name)
        os.utime(queue / name, (at, at))
    (queue / "half.tmp").write_text("half")
    command = 'cat "$SURELINE_FILE" >> seen; echo >> seen; ! grep -q bad "$SURELINE_FILE"'
    check = 'check: {command: [sh, -c, "test $(wc -l < seen) -ge 4"]}\n'
    ended = Ended(run, folder, "trigger: {queue: queue}\n" + check, "sh", "-c", command)
    assert ended.code == 0
    assert (folder / "seen").read_text().splitlines() == ["left over", "2", "bad", "1"]
    assert sorted(one.name for one in (queue / "done").iterdir()) == ["0", "1", "2"]
    assert [one.name for one in (queue / "failed").iterdir()] == ["bad"]
    assert list(claimed.iterdir()) == []
    assert (queue / "half.tmp").exists()


@pytest.mark.parametrize(
    ("mission", "said"),
    [
        pytest.param("", 'the key "trigger" is missing', id="no trigger"),
        pytest.param("trigger: {every: 3x}\n", "mission.yaml:6:18: trigger.every", id="no time"),
        pytest.param("trigger: {cron: x, timezone: UTC}\n", "trigger.cron", id="no cron"),
        pytest.param("trigger: {cron: '* * * * *'}\n", "needs a timezone", id="no zone"),
        pytest.param("trigger: {queue: nowhere}\n", "is no directory", id="no directory"),
        pytest.param("trigger: {every: 1s, file: x}\n", "found every and file", id="two"),
        pytest.param(EVERY + "chekc: {}\n", 'did you mean "check"?', id="a slip"),
        pytest.param(EVERY + "missions: {books: {}}\n", "not both", id="two policies"),
        pytest.param(EVERY + "limits: {hours: 0}\n", "7:17: limits.hours", id="no hours"),
    ],
)
def test_a_file_at_fault_is_refused_with_its_place(
    mission: str, said: str, folder: Path, run: Run
) -> None:
    """Every fault names file, line and key; nothing is invoked: exit code 2."""
    ended = Ended(run, folder, mission, "touch", "ran")
    assert ended.code == 2
    assert said in ended.stderr
    assert "mission.yaml" in ended.stderr
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param("no-such-program", "was not found", id="not found"),
        pytest.param("./plain.txt", "may not be executed", id="not executable"),
    ],
)
def test_a_command_that_cannot_be_started_begins_nothing(
    command: str, said: str, folder: Path, run: Run
) -> None:
    """It is said before anything begins: exit code 2."""
    (folder / "plain.txt").write_text("text")
    ended = Ended(run, folder, EVERY + NOT_YET, command)
    assert (ended.code, ended.lines) == (2, [])
    assert said in ended.stderr


@pytest.mark.slow
def test_limits_that_hold_nothing_are_said(folder: Path, run: Run) -> None:
    """Above the kind's they are refused, beside a mission that is there they are told."""
    ended = Ended(run, folder, EVERY + ACHIEVED + "limits: {max_invocations: 21}\n", "true")
    assert ended.code == 2
    assert "mission.yaml:8:27: limits.max_invocations: " in ended.stderr
    ended = Ended(run, folder, EVERY + ACHIEVED, "true")
    assert [one["exit_code"] for one in ended.named("invocation_ended")] == [0, 0]
    ended = Ended(run, folder, EVERY + ACHIEVED + "limits: {max_invocations: 4}\n", "true")
    assert "mission.yaml:8:27: limits.max_invocations: the mission m1 is there" in ended.stderr


def test_a_kind_that_the_policy_has_not_is_refused(folder: Path, run: Run) -> None:
    """It is said which there are."""
    write_mission(folder, EVERY)
    text = (folder / "mission.yaml").read_text().replace("kind: books", "kind: bocks")
    (folder / "mission.yaml").write_text(text)
    result = run(*RUN, "true")
    assert result.exit_code == 2
    assert "no kind of mission 'bocks' (it has: books)" in result.stderr


def test_a_mission_s_file_may_describe_its_kind(folder: Path, run: Run) -> None:
    """In a store without a policy that is the policy; beside another policy that one holds."""
    own = "id: m2\nkind: own\nobjective: Look.\nmissions: {own: {evaluate_every: 1}}\n"
    (folder / "mission.yaml").write_text(own + EVERY + ACHIEVED)
    assert run(*RUN, "true").exit_code == 0
    assert run(*RUN, "true").exit_code == 0
    wider = own.replace("evaluate_every: 1", "evaluate_every: 9")
    (folder / "mission.yaml").write_text(wider + EVERY + ACHIEVED)
    assert "the store has a policy, which holds" in run(*RUN, "true").stderr


def test_evidence_that_cannot_be_read_is_told(folder: Path, run: Run) -> None:
    """What was seen from outside stands in its place."""
    command = 'echo "{" > "$SURELINE_EVIDENCE"; echo said'
    ended = Ended(run, folder, EVERY + ACHIEVED, "sh", "-c", command)
    assert "not JSON" in ended.named("evidence_unreadable")[0]["why"]
    assert ended.code == 0


def test_evidence_of_its_own_is_taken(folder: Path, run: Run) -> None:
    """Tokens and calls that a command writes down are counted."""
    written = {"tokens": 7, "calls": [{"name": "close", "arguments": {"n": 1}}]}
    (folder / "given.json").write_text(json.dumps(written))
    command = 'cp given.json "$SURELINE_EVIDENCE"'
    ended = Ended(run, folder, EVERY + ACHIEVED, "sh", "-c", command)
    facts = [one["facts"] for one in ended.named("invocation_ended")]
    assert [(one["tokens"], one["calls"]) for one in facts] == [(7, 1), (7, 1)]


def test_an_objective_that_was_changed_is_not_changed_back(folder: Path, run: Run) -> None:
    """What a person said since holds, and that is told."""
    write_mission(folder, EVERY + ACHIEVED)
    policy = ("decide", "-", "--policy", "policy.yaml")
    assert run(*policy, text="").exit_code == 0
    made = ("mission", "create", "--kind", "books", "--id", "m1", "--objective", "Close five.")
    assert run(*made).exit_code == 0
    ended = Ended(run, folder, EVERY + ACHIEVED, "true")
    assert ended.code == 0
    assert "has another objective or other criteria than mission.yaml" in ended.stderr
