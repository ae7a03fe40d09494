"""`kill -9` amid a recall: the next run goes on, and each decision is called back once (R14)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sureline.core.values.recall import RecallWanted
from tests.recalls.acting import act, is_derived, opened, recalled_items

ROOT = Path(__file__).parents[2]
WANTED = RecallWanted(slice_key="invoices")
DECISIONS = 120
CALLS_BACK = """
import asyncio, sys
from pathlib import Path
from sureline.adapters.storage import recall_pages
from sureline.core.values.recall import RecallWanted
from tests.recalls.acting import opened

recall_pages.PAGE = 5

async def work():
    services = await opened(Path(sys.argv[1]))
    begun = await services.recaller.start(
        RecallWanted(slice_key="invoices"), reason="x", by="ada"
    )
    while begun.finished_at is None:
        begun = await services.recaller.step(begun)
        print(begun.recalled, flush=True)
        if begun.recalled >= int(sys.argv[2]):
            sys.stdin.read()

asyncio.run(work())
"""


async def filled(store: Path) -> None:
    services = await opened(store)
    for number in range(DECISIONS):
        await act(services, f"d{number}")
    services.close()


async def gone_on(store: Path) -> None:
    """Go on as `sureline serve` does, and check what there is then."""
    services = await opened(store)
    (begun,) = await services.store.recalls.list("default", only_unfinished=True)
    assert 0 < begun.recalled < DECISIONS
    assert len(await recalled_items(services)) == begun.queued == begun.recalled
    assert await services.recaller.resume() == 1
    assert await services.recaller.resume() == 0
    (done,) = await services.store.recalls.list("default")
    assert (done.recalled, done.queued) == (DECISIONS, DECISIONS)
    items = await recalled_items(services)
    assert sorted(one.decision_id for one in items) == sorted(f"d{n}" for n in range(DECISIONS))
    assert (await services.recaller.preview(WANTED)).recalled == DECISIONS
    await is_derived(services)
    services.close()


@pytest.mark.parametrize("after", [5, 60])
@pytest.mark.sqlite_file
def test_a_killed_recall_is_gone_on_with(tmp_path: Path, after: int) -> None:
    """What was answered as called back is; the rest follows, and nothing twice."""
    store = tmp_path / "store.db"
    asyncio.run(filled(store))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-c", CALLS_BACK, str(store), str(after)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        while int(process.stdout.readline()) < after:
            pass
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    asyncio.run(gone_on(store))


@pytest.mark.sqlite_file
def test_a_kill_at_any_moment_leaves_whole_batches(tmp_path: Path) -> None:
    """Wherever it is hit, items, revoked approvals and the count of both agree."""
    store = tmp_path / "store.db"
    asyncio.run(filled(store))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-c", CALLS_BACK, str(store), "100000"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.kill()  # amid whatever it does after the first batch
    process.communicate()

    async def check() -> None:
        services = await opened(store)
        (begun,) = await services.store.recalls.list("default")
        preview = await services.recaller.preview(WANTED)
        assert preview.recalled == begun.recalled == len(await recalled_items(services))
        await services.recaller.run(begun)
        assert len(await recalled_items(services)) == DECISIONS
        services.close()

    asyncio.run(check())
