"""The command line as processes: pipes, signals, two at once, and a sudden end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

COMMAND = [sys.executable, "-m", "sureline"]


Process = subprocess.Popen[bytes]
Start = Callable[..., Process]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Return a function that starts `sureline`; whatever still runs afterwards is ended."""
    with ExitStack() as stack:

        def _start(*arguments: str) -> Process:
            process = stack.enter_context(
                subprocess.Popen(
                    [*COMMAND, *arguments],
                    cwd=folder,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            )
            stack.callback(process.kill)
            return process

        yield _start


def lines(prefix: str, count: int) -> bytes:
    return "".join(proposal(id=f"{prefix}-{n}") + "\n" for n in range(count)).encode()


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        pytest.param(["--help"], 0, id="help"),
        pytest.param(["decide", "proposals.jsonl"], 1, id="the gate says no"),
        pytest.param(["decide", "nowhere.jsonl"], 2, id="bad input"),
        pytest.param(["keys", "list", "--store", "sqlite:////proc/x/y.db"], 3, id="no store"),
    ],
)
def test_exit_codes_of_the_process(
    arguments: list[str], exit_code: int, started: Run, start: Start
) -> None:
    """The process ends with the documented code and never with a traceback."""
    process = start(*arguments)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == exit_code
    assert b"Traceback" not in errors
    assert b"\x1b[" not in errors  # no colours where nobody watches


def test_it_answers_line_by_line(started: Run, start: Start) -> None:
    """Another program can write a proposal, read its decision, and then write the next one."""
    process = start("decide")
    assert process.stdin is not None
    assert process.stdout is not None
    for name in ("a", "b"):
        process.stdin.write((proposal(id=name) + "\n").encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == name
    process.communicate(timeout=60)
    assert process.returncode == 1


def test_a_reader_that_goes_away_is_no_traceback(started: Run, start: Start) -> None:
    """When the pipe closes, the command stops quietly with 141."""
    process = start("decide")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines("p", 1))
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(lines("q", 50))
    process.stdin.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


def test_an_output_that_is_full_is_no_traceback(started: Run, folder: Path) -> None:
    """When the disk under the output is full, one line says so and the code is 3."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "decide", "proposals.jsonl"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: cannot read or write")
    assert b"3 lines were decided and stored before it" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_interrupting_is_no_traceback(started: Run, start: Start) -> None:
    """Ctrl-C ends the command with 130; what was answered is in the store."""
    process = start("decide")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write((proposal(id="kept") + "\n").encode())
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert b"Traceback" not in process.stderr.read()
    assert started("outcome", "kept", "--action", "approve", "--by", "Ada").exit_code == 0


def test_two_processes_share_one_store(started: Run, start: Start) -> None:
    """Two processes deciding at once lose nothing, and the ledger verifies."""
    processes = [start("decide") for _ in range(2)]
    for number, process in enumerate(processes):
        assert process.stdin is not None
        process.stdin.write(lines(f"p{number}", 40))
        process.stdin.close()
        process.stdin = None
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (1, b"")
        assert len(output.splitlines()) == 40
    found = json.loads(started("ledger", "verify", "--json").stdout)
    assert found["ok"] is True
    assert found["rows"] >= 80


def test_two_first_processes_make_one_store(run: Run, start: Start) -> None:
    """Two processes that both find no store make one store, with one policy."""
    run("init", ".")
    processes = [start("decide", "proposals.jsonl", "--policy", "policy.yaml") for _ in range(2)]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (1, b"")
        assert len(output.splitlines()) == 3
    assert json.loads(run("ledger", "verify", "--json").stdout)["ok"] is True


def test_what_was_answered_survives_a_kill(started: Run, start: Start) -> None:
    """After `kill -9` every answered decision is there, and the ledger verifies."""
    process = start("decide")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines("k", 30))
    process.stdin.flush()
    answered = [json.loads(process.stdout.readline())["id"] for _ in range(10)]
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    for name in answered:
        recorded = started("outcome", name, "--action", "approve", "--by", "Ada")
        assert recorded.exit_code == 0, recorded.stderr
    assert json.loads(started("ledger", "verify", "--json").stdout)["ok"] is True
