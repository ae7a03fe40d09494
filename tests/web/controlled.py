"""A server on half a year of decisions, with a queue, switches and hostile text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from sureline.application.ports.keys import Role
from sureline.core.values.switch import Switch
from sureline.testing import FixedClock
from tests.reported import filled_world
from tests.web.served import Served, running

HOSTILE = "<script>alert(1)</script> ![x](http://evil.example/p.png) \u202eevil\u202c\u200b\x1b[31m"


@contextmanager
def controlled(folder: Path) -> Iterator[Served]:
    """Serve the filled world of the reports on `folder`; some outputs wait for people."""
    # On a thread of its own: a browser's loop may be running on this one.
    runner = asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:
        run = partial(_on, thread, runner)
        yield from _controlled(run, filled_world(f"sqlite:///{folder / 'store.db'}", folder))
        thread.submit(runner.close).result()


def _on(thread: ThreadPoolExecutor, runner: asyncio.Runner, work: Coroutine[Any, Any, Any]) -> Any:
    return thread.submit(runner.run, work).result()


def _controlled(
    run: Callable[[Coroutine[Any, Any, Any]], Any], world_at: AbstractAsyncContextManager[Any]
) -> Iterator[Served]:
    world = run(world_at.__aenter__())
    clock = world.clock
    assert isinstance(clock, FixedClock)
    with running(world.services) as url:
        served = Served(services=world.services, clock=clock, url=url)
        served.keys.update((role, served.make_key(role)) for role in Role)
        for number in range(3):
            served.decide(slice_key="refunds", task=f"{HOSTILE} {number}", output=HOSTILE)
        run(world.services.ledger.set_switch(_switch(served)))
        yield served
    for client in served.clients.values():
        client.close()
    run(world_at.__aexit__(None, None, None))


def _switch(served: Served) -> Switch:
    return Switch(
        workspace="default",
        scope="slice:letters",
        on=True,
        reason=f"letters look odd {HOSTILE}",
        by="ada",
        changed_at=served.clock.now(),
    )


@contextmanager
def signed_in(
    served: Served, role: Role = Role.REVIEWER, *, secret: str | None = None
) -> Iterator[httpx.Client]:
    """Yield a client that has signed in as a browser does, by a role's key or a `secret`."""
    with httpx.Client(base_url=served.url, timeout=30, follow_redirects=True) as client:
        key = secret or served.keys[role]
        client.post("/login", data={"key": key}, follow_redirects=False)
        yield client


def seen(client: httpx.Client, path: str) -> str:
    """Return a page once the report that it shows is there; each request waits for it a while."""
    for _ in range(60):
        page = client.get(path)
        assert page.status_code == 200
        if "being drawn up" not in page.text:
            return page.text
    raise AssertionError(f"{path}: the report is not drawn up")
