"""A `sureline serve` in a process of its own, on a store of a benchmark."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stores import free_port

from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.store import open_store
from sureline.application.ports.keys import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a server listens, and what process it is."""

    port: int
    process: subprocess.Popen[bytes]


def started(store: str, policy: Path, log: Path, environment: Mapping[str, str]) -> Served:
    """Start a server and return once it answers. Raises SystemExit if it does not."""
    port = free_port()
    command = ("-m", "sureline", "serve", "--store", store, "--policy", str(policy))
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, *command, "--port", str(port)],
            stdout=out,
            stderr=out,
            env={**os.environ, **environment},
        )
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit(f"the server ended:\n{log.read_text()[-2000:]}")
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
            return Served(port=port, process=process)
        time.sleep(0.1)
    process.kill()
    raise SystemExit("the server did not come up")


@contextmanager
def serving(
    store: str, policy: Path, log: Path, environment: Mapping[str, str]
) -> Iterator[Served]:
    """Serve until the block ends."""
    found = started(store, policy, log, environment)
    try:
        yield found
    finally:
        found.process.terminate()
        found.process.wait(30)


def make_keys(store: str) -> dict[Role, str]:
    """Make a key of an agent and one of a reviewer; return their secrets."""

    async def made() -> dict[Role, str]:
        opened = open_store(store)
        found = {}
        for role in (Role.AGENT, Role.REVIEWER):
            _, found[role] = await opened.keys.create(
                name=role.value, role=role, workspace="default", slices=(), at=SystemClock().now()
            )
        opened.close()
        return found

    return asyncio.run(made())
