"""Run one command's work on an open store."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sureline.bootstrap import Plugins, Services, open_services
from sureline.cli.output import note
from sureline.core.gate.acting import check_distinct
from sureline.errors import StoreUnavailable

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Session:
    """An open store and an event loop that runs only when asked to.

    Between two calls of `run` no loop is running, so that waiting for input there can be
    interrupted like any other program.
    """

    services: Services
    runner: asyncio.Runner

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Drive `work` to its end."""
        return self.runner.run(work)


def warn_if_forgetful(services: Services, tell: Callable[[str], None] = note) -> None:
    """Say it when nothing will be kept: a store in memory is for trying things out."""
    if services.store.in_memory:
        tell(
            f"warning: the store {services.store.url} is in memory: nothing is kept when this "
            f"command ends; for a store that stays: --store sqlite:///sureline.db"
        )


def note_upgrade(services: Services, tell: Callable[[str], None] = note) -> None:
    """Say it when opening the store brought older tables to this version's."""
    database = services.store.database
    if database.prepared.migrated and database.prepared.before is not None:
        tell(
            f"{database.where} had schema {database.prepared.before}: upgraded to this version's; "
            f"an older sureline can no longer use it"
        )


@contextmanager
def session(
    store: str | None, workspace: str, *, create: bool = True, plugins: Plugins | None = None
) -> Iterator[Session]:
    """Open the store and let go of it, whatever happens.

    Without `create` the store must be there and have this version's tables, but may be one that
    can only be read.
    """
    try:
        services = open_services(
            store, workspace=workspace, create=create, to_write=create, plugins=plugins
        )
    except StoreUnavailable as error:  # nothing was asked of it yet that could be acknowledged
        said = error.message.removesuffix("; nothing was acknowledged")
        raise StoreUnavailable(said) from error
    warn_if_forgetful(services)
    note_upgrade(services)
    try:
        with _interruptible(), asyncio.Runner() as runner:
            yield Session(services, runner)
    finally:
        services.close()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the command whenever it comes.

    The handler that asyncio puts in place of Python's own cancels the running work; where that has
    just ended, the interruption is lost, and the command waits for its next line for ever.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    usual = signal.default_int_handler
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


async def check_speaker(services: Services, by: str) -> None:
    """Raise InvalidInput unless a name is a key's own, or one that nobody takes for a key's."""
    keys = await services.keys.all(services.workspace)
    check_distinct(by, [one.name for one in keys], field="--by")


def on_store(
    work: Callable[[Services], Awaitable[Result]],
    *,
    store: str | None,
    workspace: str,
    create: bool = False,
    by: str | None = None,
) -> Result:
    """Do one piece of work on the store, in the name of `by` where it is somebody's.

    Raises InvalidInput for a name that only reads like a key's: that would be a second person.
    Without `create` the store must be there: a switch that is turned in a store made by a typing
    error would turn nothing.
    """

    async def done(services: Services) -> Result:
        if by is not None:
            await check_speaker(services, by)
        return await work(services)

    with session(store, workspace, create=create) as opened:
        return opened.run(done(opened.services))
