"""A process that is killed while it delivers: nothing is lost, and ids stay."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.outbox.courier import MOST_CALLBACKS
from sureline.application.ports.outbox import Delivery
from tests.outbox.told import (
    courier,
    decide,
    opened,
    outbox,
    pass_time,
    policy,
    release,
    submit,
    webhook,
)
from tests.receivers import SECRET, receiving

ROOT = Path(__file__).parents[2]
DELIVERS = """
import asyncio, sys
from sureline.bootstrap import courier_of, open_services

services = open_services("sqlite:///" + sys.argv[1])
asyncio.run(courier_of(services).serve(lambda: False))
"""

DECIDES = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.outbox.told import opened, policy, submit

async def work():
    await submit(await opened(Path(sys.argv[1]), policy()))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(work())
"""


async def filled(store: Path, url: str, items: int) -> None:
    """Make a store with so many verdicts to tell."""
    services = await opened(store, policy(webhook(url)))
    for number in range(items):
        await decide(services, await submit(services, number))
    await release(services)
    services.close()


async def delivered(store: Path, url: str) -> list[Delivery]:
    """Deliver what another process has left, five minutes later."""
    services = await opened(store, policy(webhook(url)))
    pass_time(services, timedelta(minutes=5))
    await courier(services).round()
    found = await outbox(services)
    services.close()
    return found


@pytest.mark.sqlite_file
def test_a_kill_amid_a_delivery_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was under way at kill -9 arrives again under the same ids, the rest arrives once."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    store, second = tmp_path / "store.db", threading.Event()

    def says(number: int) -> int:
        if number != 2:
            return 200
        second.set()
        return 0

    with receiving(says) as receiver:
        asyncio.run(filled(store, receiver.url, 8))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        process = subprocess.Popen([sys.executable, "-c", DELIVERS, str(store)], env=environment)
        try:
            assert second.wait(60)
        finally:
            process.kill()
            process.wait()
        found = asyncio.run(delivered(store, receiver.url))
        came = [one.id for one in receiver.received]
    assert {one.state for one in found} == {"delivered"}
    assert sorted(set(came)) == sorted(one.id for one in found)
    twice = {one for one in came if came.count(one) == 2}  # they may have arrived before the kill
    assert 1 <= len(twice) <= MOST_CALLBACKS
    assert len(came) == 8 + len(twice)


@pytest.mark.sqlite_file
def test_what_is_to_be_told_is_written_with_what_it_tells(tmp_path: Path) -> None:
    """A process that dies right after a decision, with no courier at all, has left the notice."""
    store = tmp_path / "store.db"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    died = subprocess.run([sys.executable, "-c", DECIDES, str(store)], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL

    async def spread() -> tuple[int, list[Delivery]]:
        services = await opened(store, policy())
        count = await services.store.outbox.spread(
            "default", lambda _: ["team"], now=services.clock.now(), limit=10
        )
        found = await outbox(services)
        services.close()
        return count, found

    count, (delivery,) = asyncio.run(spread())
    assert count == 1
    assert (delivery.notice.kind, delivery.notice.decision_id) == ("review.opened", "d000")
