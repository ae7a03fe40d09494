"""P2: POST /v1/decisions, 64 connections, beside a bare Starlette that writes the same rows.

Both sides run under uvicorn in a process of their own and are driven by wrk with the same bodies.
The bare side reads the body as JSON, inserts the rows of such a decision by group commit and
answers with its bytes: no key, no checks, no hash chain, nothing looked up.

Run: python benchmarks/p2_http.py [--store sqlite|postgres|both] [--quick] [--json]
(needs wrk: apt-get install wrk)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from figures import hand_out
from filled_store import fill, policy_text, proposal
from page import Section
from stores import TITLES, Stores, add_store_option, chosen, free_port, stores

from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.store import open_store
from sureline.application.ports.keys import Role

CONNECTIONS = 64
BODIES = 2_000
PORT = free_port()
ADDRESS = f"http://127.0.0.1:{PORT}"
_RATE = re.compile(r"Requests/sec:\s+([0-9.]+)")
_FAILED = re.compile(r"Non-2xx or 3xx responses: ([0-9]+)")

_SCRIPT = """\
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer {secret}"
local bodies = {{}}
for line in io.lines("{bodies}") do bodies[#bodies + 1] = line end
local next = 0
function request()
  next = next % #bodies + 1
  return wrk.format(nil, "/v1/decisions", nil, bodies[next])
end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Requests per second of both sides, taken one after the other."""

    ours: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.ours / self.bare


@contextmanager
def server(*command: str) -> Iterator[None]:
    """Run a server of this project's Python until the block ends."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_up(process)
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_up(process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        try:
            urllib.request.urlopen(f"{ADDRESS}/healthz", timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not come up")


def load(script: Path, seconds: int) -> float:
    """Return the accepted requests per second under load."""
    done = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script, ADDRESS],
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
    ).stdout
    failed = _FAILED.search(done)
    if failed is not None:
        raise SystemExit(f"{failed[1]} requests were not accepted:\n{done}")
    found = _RATE.search(done)
    assert found is not None, done
    return float(found[1])


def compare(made: Stores, filled: str, history: int, seconds: int) -> Pair:
    """Measure both sides once, each on a new store."""
    with tempfile.TemporaryDirectory() as name:
        ours, bare = made.copy(filled), made.fresh()
        try:
            return _compared(Path(name), ours, bare, history, seconds)
        finally:
            made.drop(ours)
            made.drop(bare)


def _compared(folder: Path, store: str, bare_store: str, history: int, seconds: int) -> Pair:
    policy = folder / "policy.yaml"
    policy.write_text(policy_text(history), encoding="utf-8")
    script = _write_script(folder, asyncio.run(_make_key(store)))
    arguments = ("--store", store, "--policy", str(policy), "--port", str(PORT))
    with server("-m", "sureline", "serve", *arguments):
        load(script, 1)
        ours = load(script, seconds)
    bare_server = str(Path(__file__).with_name("bare_server.py"))
    with server(bare_server, bare_store, str(policy), str(PORT)):
        load(script, 1)
        bare = load(script, seconds)
    return Pair(ours=ours, bare=bare)


async def _make_key(store: str) -> str:
    opened = open_store(store)
    _, secret = await opened.keys.create(
        name="wrk", role=Role.AGENT, workspace="default", slices=(), at=SystemClock().now()
    )
    opened.close()
    return secret


def _write_script(folder: Path, secret: str) -> Path:
    bodies, script = folder / "bodies.jsonl", folder / "post.lua"
    lines = (json.dumps(proposal(number)) for number in range(BODIES))
    bodies.write_text("\n".join(lines), encoding="utf-8")
    script.write_text(_SCRIPT.format(secret=secret, bodies=bodies), encoding="utf-8")
    return script


def section(made: Stores, seconds: int, rounds: int) -> Section:
    """Measure both window sizes on one store."""
    rows = []
    for history, target in ((0, 0.45), (20_000, 0.2)):
        filled = made.fresh()
        if history:
            fill(filled, history)
        pairs = [compare(made, filled, history, seconds) for _ in range(rounds)]
        made.drop(filled)
        rows.append(
            (
                f"{history:,}",
                f"{statistics.median(pair.ours for pair in pairs):,.0f}",
                f"{statistics.median(pair.bare for pair in pairs):,.0f}",
                f"{statistics.median(pair.ratio for pair in pairs):.2f}",
                f">= {target}",
            )
        )
    return Section(
        title=f"P2 on {TITLES[made.kind]}: POST /v1/decisions, beside a bare server",
        note=f"{CONNECTIONS} connections, {seconds} s a run, median of {rounds} rounds; the bare "
        "server writes the same rows by group commit and does nothing else.",
        heading=("history", "ours/s", "bare/s", "ratio", "target"),
        rows=tuple(rows),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter runs and one round")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", action="store_true")
    add_store_option(parser)
    given = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("P2 needs wrk (Debian: apt-get install wrk)")
    seconds, rounds = (4, 1) if given.quick else (8, 3)
    began, found = time.perf_counter(), []
    for kind in chosen(given.store):
        with stores(kind) as made:
            found.append(section(made, seconds, given.rounds or rounds))
    hand_out(found, as_json=given.json, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
