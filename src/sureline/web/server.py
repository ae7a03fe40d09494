"""Run the application on a socket until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from sureline.errors import SurelineError
from sureline.web.app import HttpApp

STOP_SECONDS = 10
"""How long requests under way may take to end once the server is told to stop."""


class PortTaken(SurelineError):
    """The address cannot be listened on."""

    exit_code = 3


class HttpServer(uvicorn.Server):
    """Serves one application; stopping ends waits, lets requests finish, and returns.

    Unlike its parent it does not raise the signal again, so that the caller can still close the
    store.
    """

    def __init__(self, app: HttpApp) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_config=None,
                lifespan="off",
                ws="none",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        stops = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in stops}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell whoever waits for a person to come again, then finish what is under way.

        Work that was answered before it was done is finished, too.
        """
        context = self._app.context
        context.closing.set()
        await super().shutdown(sockets)
        if context.under_way:
            await asyncio.wait(context.under_way, timeout=STOP_SECONDS)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 takes any. Raises PortTaken."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as error:
        raise PortTaken(f"cannot listen on {host} port {port}: {_why(error)}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise PortTaken(f"cannot listen on {host} port {port}: {_why(error)}") from error
    listener.setblocking(False)
    return listener


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
