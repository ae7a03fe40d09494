"""`sureline serve` as a process: first key, refusals, stopping, and kill -9 after a 201."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from sureline.adapters.storage.store import open_store
from sureline.cli.serve import is_loopback
from tests.web.served import POLICY

GOOD = {"slice_key": "replies", "task": "t", "output": "s3cret-payload", "id": "mine"}


@dataclass
class Process:
    """A started server, with the key that it printed and its address."""

    popen: subprocess.Popen[str]
    key: str
    url: str

    def post(self, path: str, **body: object) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.key}"}
        return httpx.post(f"{self.url}{path}", json=body, headers=headers, timeout=20)


def command(folder: Path, *more: str) -> list[str]:
    policy = folder / "policy.yaml"
    if not policy.exists():
        policy.write_text(POLICY, encoding="utf-8")
    store = f"sqlite:///{folder / 'store.db'}"
    return [
        sys.executable,
        "-m",
        "sureline",
        "serve",
        "--store",
        store,
        "--policy",
        str(policy),
        *more,
    ]


@contextmanager
def started(folder: Path, *more: str) -> Iterator[Process]:
    popen = subprocess.Popen(
        command(folder, "--port", "0", *more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert popen.stdout is not None
    assert popen.stderr is not None
    with popen, popen.stdout, popen.stderr:
        try:
            for line in popen.stderr:
                found = re.search(r"http://\S+", line)
                if found is not None:
                    yield Process(popen, popen.stdout.readline().strip(), found[0])
                    break
            else:
                pytest.fail("the server did not come up")
        finally:
            popen.kill()


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *more), capture_output=True, text=True, timeout=60, check=False
    )


def test_a_decision_survives_kill_9_after_its_201(tmp_path: Path) -> None:
    """What was answered with 201 is in the store even if the process dies right then."""
    with started(tmp_path) as server:
        answer = server.post("/v1/decisions", **GOOD)
        os.kill(server.popen.pid, signal.SIGKILL)
        server.popen.wait(10)
    assert answer.status_code == 201
    assert _stored(tmp_path, "mine") == answer.content


def test_stopping_finishes_and_leaves_no_payload_in_the_log(tmp_path: Path) -> None:
    """SIGTERM ends the server with exit code 0; neither output quotes what was sent."""
    with started(tmp_path) as server:
        assert server.key.startswith("sl_admin_")
        answer = server.post("/v1/decisions", **GOOD)
        server.post("/v1/decisions", **{**GOOD, "output": "s3cret-other"})
        server.popen.terminate()
        out, err = server.popen.communicate(timeout=20)
    assert server.popen.returncode == 0
    assert "s3cret" not in out + err
    assert _stored(tmp_path, "mine") == answer.content


@pytest.mark.parametrize(
    ("more", "ran"),
    [([], ["canaries", "recalibrate", "retention", "verify", "watch"]), (["--no-jobs"], [])],
    ids=["jobs", "none"],
)
def test_jobs_run_beside_the_server(tmp_path: Path, more: list[str], ran: list[str]) -> None:
    """What is due runs once the server listens, and stopping waits for it; unless told not to."""
    with started(tmp_path, *more) as server:
        assert server.post("/v1/decisions", **GOOD).status_code == 201
        server.popen.terminate()
        server.popen.communicate(timeout=20)
    assert server.popen.returncode == 0
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    states = asyncio.run(store.jobs.states("default"))
    store.close()
    assert [(one.name, one.failures) for one in states if one.finished_at] == [
        (name, 0) for name in ran
    ]


def test_a_saved_policy_is_proposed_beside_the_server(tmp_path: Path) -> None:
    """One line tells of the proposal; answers stay as they were until it is activated."""
    with started(tmp_path) as server:
        before = server.post("/v1/decisions", **GOOD).json()["policy"]
        changed = POLICY.replace("auto: 0.85", "auto: 0.9")
        (tmp_path / "policy.yaml").write_text(changed, encoding="utf-8")
        assert server.popen.stderr is not None
        line = next(line for line in server.popen.stderr if "proposed policy" in line)
        after = server.post("/v1/decisions", **GOOD | {"id": "another"}).json()["policy"]
    assert after == before
    (proposed,) = [one for one in _policies(tmp_path) if one != before]
    assert f"policy.yaml: proposed policy {proposed[:12]}; to use it: sureline policy" in line


def test_the_first_key_is_shown_once(tmp_path: Path) -> None:
    """A second start prints no key; the first one still works."""
    with started(tmp_path) as first:
        key = first.key
    popen = subprocess.Popen(
        command(tmp_path, "--port", "0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert popen.stderr is not None
    with popen:
        url = re.search(r"http://\S+", popen.stderr.readline())
        assert url is not None
        again = Process(popen, key, url[0])
        assert again.post("/v1/decisions", **GOOD).status_code == 201
        popen.terminate()
        out, _ = popen.communicate(timeout=20)
    assert out == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.invalid"])
def test_without_keys_only_this_machine_is_listened_to(tmp_path: Path, host: str) -> None:
    """Anything but loopback is refused with exit code 2 until there is a key, and none is made."""
    done = run(tmp_path, "--host", host, "--port", "0")
    assert done.returncode == 2
    assert "no API keys" in done.stderr
    assert done.stdout == ""
    assert _keys(tmp_path) == []


def test_a_taken_port_is_exit_3(tmp_path: Path) -> None:
    """The message names the address; no key is made for a server that cannot run."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, "--port", str(port))
    assert done.returncode == 3
    assert f"127.0.0.1 port {port}" in done.stderr
    assert done.stdout == ""
    assert _keys(tmp_path) == []


def test_a_faulty_policy_is_exit_2(tmp_path: Path) -> None:
    """A policy that cannot be used is said before anything listens."""
    (tmp_path / "policy.yaml").write_text("version: 1\nslices: 5\n", encoding="utf-8")
    done = run(tmp_path, "--port", "0")
    assert done.returncode == 2
    assert "policy.yaml" in done.stderr


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.0.1", False),
        ("localhost.example.org", False),
    ],
)
def test_loopback_is_told_by_its_address(host: str, local: bool) -> None:
    """Only an address of this machine alone is one; a name could lead anywhere."""
    assert is_loopback(host) is local


def _policies(folder: Path) -> list[str]:
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    found = asyncio.run(store.registry.policies())
    store.close()
    return [str(one["hash"]) for one in found]


def _keys(folder: Path) -> list[object]:
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    found = asyncio.run(store.keys.all("default"))
    store.close()
    return list(found)


def _stored(folder: Path, decision_id: str) -> bytes:
    from sureline.application.encode import splice

    store = open_store(f"sqlite:///{folder / 'store.db'}")
    found = asyncio.run(store.ledger.decision("default", decision_id))
    store.close()
    assert found is not None
    return splice(found.body, found.answer)
