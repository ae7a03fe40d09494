"""The event loop on its own thread ends quietly, whatever it was doing."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from sureline.loop_thread import LoopThread


def test_closing_cancels_what_still_runs(caplog: pytest.LogCaptureFixture) -> None:
    """Work that is waiting when the loop closes is cancelled, and nothing complains of it."""
    loop = LoopThread()
    ended = threading.Event()

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        return task

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = loop.run(start())
    loop.close()
    assert ended.is_set()
    assert task.cancelled()
    del task
    gc.collect()
    assert caplog.records == []


def test_an_interrupt_cancels_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while waiting is raised to the caller, and the work does not go on."""
    loop = LoopThread()
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    schedule = asyncio.run_coroutine_threadsafe

    def interrupted(work, on):  # type: ignore[no-untyped-def]
        future = schedule(work, on)
        begun.wait()
        future.result = interrupt  # type: ignore[method-assign]
        return future

    def interrupt() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop.run(wait())
    assert ended.wait(timeout=10)
    loop.close()


def test_closing_what_never_ran_is_harmless() -> None:
    """A loop that was not needed closes, twice if need be."""
    loop = LoopThread()
    loop.close()
    loop.run(asyncio.sleep(0))
    loop.close()
    loop.close()
