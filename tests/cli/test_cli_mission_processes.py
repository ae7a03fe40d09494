"""`sureline mission run` as a process: signals, kill -9, and people who answer meanwhile."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.supervised import is_running, supervising, told_to_end, wait_until

EVERY = "trigger: {every: 0.2s}\n"
NOT_YET = 'check: {command: ["false"]}\n'
ACHIEVED = 'check: {command: ["true"]}\n'
pytestmark = [pytest.mark.sqlite_file, pytest.mark.slow]

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code])
with open("pids.part", "w") as out:
    out.write(f"{os.getpid()} {child.pid}")
os.rename("pids.part", "pids")
time.sleep(600)
"""


def stubborn(folder: Path) -> list[str]:
    """Return a command that ignores SIGTERM, and has a child that does so as well."""
    (folder / "stubborn.py").write_text(STUBBORN)
    return [sys.executable, "stubborn.py"]


def pids(folder: Path) -> list[int]:
    """Return who runs: the command and its child."""
    wait_until((folder / "pids").exists)
    return [int(one) for one in (folder / "pids").read_text().split()]


def test_sigterm_ends_the_whole_group(folder: Path) -> None:
    """A command and a child of its that ignore SIGTERM are gone when the supervisor is."""
    with supervising(folder, EVERY + NOT_YET, *stubborn(folder)) as supervisor:
        running = pids(folder)
        told_to_end(supervisor.process)
        assert supervisor.ended() == 128 + signal.SIGTERM
    assert not any(map(is_running, running))
    assert supervisor.named("process_ended")[0]["ended_for"] == "stopping"
    assert "Traceback" not in (folder / "errors.txt").read_text()


def test_what_a_killed_supervisor_leaves_is_ended_and_noticed(folder: Path) -> None:
    """After kill -9 nothing runs on unwatched; the next start counts a lost invocation."""
    with supervising(folder, EVERY + NOT_YET, *stubborn(folder)) as supervisor:
        running = pids(folder)
        supervisor.process.kill()
        wait_until(lambda: not any(map(is_running, running)))
    with supervising(folder, EVERY + ACHIEVED, "true") as supervisor:
        assert supervisor.ended() == 0
    assert len(supervisor.named("invocation_lost")) == 1


def test_a_person_suspends_and_resumes(folder: Path, run: Run) -> None:
    """Suspended, the command is ended and none is started; resumed, it goes on."""
    with supervising(folder, EVERY + NOT_YET, *stubborn(folder)) as supervisor:
        running = pids(folder)
        assert run("mission", "suspend", "m1", "--by", "Ada").exit_code == 0
        supervisor.until("process_ended", ended_for="suspended")
        assert not any(map(is_running, running))
        (folder / "pids").unlink()
        assert run("mission", "resume", "m1", "--by", "Ada").exit_code == 0
        supervisor.until("resumed", by="Ada")
        assert len(supervisor.named("process_started")) == 1
        pids(folder)
        assert run("mission", "complete", "m1", "--by", "Ada").exit_code == 0
        assert supervisor.ended() == 0


def test_a_command_that_is_gone_later_is_a_failed_call(folder: Path) -> None:
    """It is said why, invocation by invocation, and no answer is called empty."""
    own = folder / "own.sh"
    own.write_text("#!/bin/sh\nrm own.sh\n")
    own.chmod(0o755)
    limits = "limits: {max_invocations: 5}\n"
    with supervising(folder, EVERY + NOT_YET + limits, "./own.sh") as supervisor:
        assert "was not found" in supervisor.until("not_started")["why"]
        assert supervisor.ended() == 1
    assert supervisor.lines[-1]["cause"] == "ceiling"


def test_the_last_event_says_which_signal_it_was(folder: Path) -> None:
    """A pipe in place of the context freezes nothing, and every event has its moment."""
    command = 'rm "$SURELINE_CONTEXT"; mkfifo "$SURELINE_CONTEXT" "$SURELINE_EVIDENCE"'
    with supervising(folder, EVERY + NOT_YET, "sh", "-c", command) as supervisor:
        supervisor.until("evidence_unreadable", invocation=2)
        told_to_end(supervisor.process)
        assert supervisor.ended() == 128 + signal.SIGTERM
    assert supervisor.lines[-1]["event"] == "stopping"
    assert supervisor.lines[-1]["signal"] == "SIGTERM"
    assert all("at" in one for one in supervisor.lines)


def test_a_trigger_while_it_runs_is_skipped_and_counted(folder: Path) -> None:
    """A run of several intervals is one invocation, and the triggers meanwhile are counted."""
    command = "while [ ! -e go ]; do sleep 0.05; done"
    with supervising(folder, EVERY + ACHIEVED, "sh", "-c", command) as supervisor:
        supervisor.until("trigger_skipped")
        supervisor.until("trigger_skipped")
        assert len(supervisor.named("process_started")) == 1
        (folder / "go").touch()
        assert supervisor.ended() == 0


def test_a_check_that_breaks_is_no_judgement(folder: Path) -> None:
    """An exit code that is neither 0 nor 1 is a failed evaluation, which is told at once."""
    check = 'check: {command: [sh, -c, "exit 7"]}\n'
    with supervising(folder, EVERY + check, "true") as supervisor:
        failed = supervisor.until("evaluation_failed")
        assert (failed["facts"]["fault"], failed["facts"]["exit"]) == ("check_raised", 7)
        assert supervisor.named("evaluated") == []
        told_to_end(supervisor.process)
        assert supervisor.ended() == 128 + signal.SIGTERM
