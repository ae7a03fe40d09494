"""Several processes, threads and event loops on one file, and processes that die."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.errors import StoreUnavailable
from tests.adapters.storage.samples import record

_ROOT = Path(__file__).parents[3]
_SPAWN = multiprocessing.get_context("spawn")


def _append(path: Path, name: str, count: int) -> None:
    """Append `count` decisions from eight concurrent callers; the body of a child process."""

    async def work() -> None:
        store = open_store(f"sqlite:///{path}", busy_timeout=30)
        numbers = iter(range(count))

        async def call() -> None:
            for number in numbers:
                await store.ledger.append(record(f"{name}-{number}"))

        await asyncio.gather(*(call() for _ in range(8)))
        store.close()

    asyncio.run(work())


async def _assert_whole(path: Path, rows: int) -> None:
    store = open_store(f"sqlite:///{path}")
    report = await store.ledger.verify()
    store.close()
    assert report.fault is None
    assert report.rows == rows
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


async def test_processes_share_one_chain(path: Path) -> None:
    """Three processes that create and fill one store together leave one whole chain (O10, O12)."""
    children = [_SPAWN.Process(target=_append, args=(path, f"p{n}", 60)) for n in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    await _assert_whole(path, 180)


_LOAD = """
import asyncio, sys
from pathlib import Path
from sureline.adapters.storage.store import open_store
from tests.adapters.storage.samples import record

async def main():
    store = open_store(f"sqlite:///{sys.argv[1]}")
    numbers = iter(range(100_000))
    async def call():
        for number in numbers:
            await store.ledger.append(record(number))
            print(number, flush=True)
    await asyncio.gather(*(call() for _ in range(16)))

asyncio.run(main())
"""


async def _assert_all_there(path: Path, acknowledged: set[int]) -> None:
    store = open_store(f"sqlite:///{path}")
    for number in acknowledged:
        assert await store.ledger.decision("default", f"d{number}") is not None
    report = await store.ledger.verify()
    store.close()
    assert report.fault is None
    assert report.rows >= len(acknowledged) >= 200


def test_what_was_acknowledged_survives_kill_9(path: Path) -> None:
    """Every decision whose append returned is there, and the chain verifies."""
    child = subprocess.Popen(
        [sys.executable, "-c", _LOAD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
    )
    assert child.stdout is not None
    acknowledged = {int(child.stdout.readline()) for _ in range(200)}
    child.send_signal(signal.SIGKILL)
    acknowledged |= {int(line) for line in child.stdout.read().splitlines()[:-1]}
    child.stdout.close()
    child.wait()
    asyncio.run(_assert_all_there(path, acknowledged))


async def test_two_processes_see_each_others_rows_at_once(path: Path) -> None:
    """A reader holds no old snapshot: what another connection commits is there (G29)."""
    one, two = open_store(f"sqlite:///{path}"), open_store(f"sqlite:///{path}")
    for number in range(5):
        await one.ledger.append(record(number))
        assert await two.ledger.decision("default", f"d{number}") is not None
    assert one.secret == two.secret
    one.close()
    two.close()


def test_threads_with_event_loops_share_a_store(store: Store) -> None:
    """Four loops in four threads append to one store, and none waits for ever."""

    def work(name: int) -> None:
        async def appends() -> None:
            for number in range(20):
                await store.ledger.append(record(f"{name}-{number}"))

        asyncio.run(appends())

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    report = asyncio.run(store.ledger.verify())
    assert (report.ok, report.rows) == (True, 80)


def test_a_loop_that_ends_early_holds_nobody_up(store: Store) -> None:
    """A caller that goes away while its row is written leaves the store working."""

    async def leave() -> None:
        task = asyncio.create_task(store.ledger.append(record("left")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    for _ in range(20):
        asyncio.run(leave())
        assert asyncio.run(store.ledger.append(record())).id == "d1"


async def test_closing_writes_what_was_handed_in(path: Path) -> None:
    """An append that was accepted before close is on disk after it."""
    store = open_store(f"sqlite:///{path}")
    task = asyncio.create_task(store.ledger.append(record()))
    await asyncio.sleep(0)
    store.close()
    assert (await task).created
    await _assert_whole(path, 1)


async def test_closing_beside_a_batch_ends(store: Store) -> None:
    """Whatever is being written or gathered when the store closes, every caller is answered."""
    tasks = [asyncio.create_task(store.ledger.append(record(number))) for number in range(50)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = asyncio.create_task(store.ledger.append(record("late")))
    await asyncio.sleep(0)
    store.close()
    answers = await asyncio.gather(*tasks, late)
    assert all(answer.created for answer in answers)


def _in_child(work: object) -> int:
    """Fork, run `work` in the child, and return the child's exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert callable(work)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_inherits_no_open_file(path: Path) -> None:
    """Parent and children append in turn around twenty forks; nothing is damaged (O05, O06)."""
    store = open_store(f"sqlite:///{path}")

    def append(name: str) -> None:
        asyncio.run(store.ledger.append(record(name)))

    for number in range(20):
        append(f"before-{number}")
        assert _in_child(lambda number=number: append(f"child-{number}")) == 0
        append(f"after-{number}")
    store.close()
    asyncio.run(_assert_whole(path, 60))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_store_in_memory_stays_with_the_parent() -> None:
    """The child is told, and the parent's store works on."""
    store = open_store("sqlite://")
    asyncio.run(store.ledger.append(record()))

    def use() -> None:
        with pytest.raises(StoreUnavailable, match="fork"):
            asyncio.run(store.ledger.append(record(2)))

    assert _in_child(use) == 0
    assert asyncio.run(store.ledger.append(record(2))).created
    store.close()
