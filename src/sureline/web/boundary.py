"""Where every error of a request ends: as a problem for the caller and a line for the log."""

from __future__ import annotations

import logging
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sureline.application.complaints import Complaints
from sureline.errors import StoreError, SurelineError
from sureline.web.faults import ClientGone
from sureline.web.log_format import REQUEST, safe_trace
from sureline.web.metrics import UNKNOWN_PATH, Metrics
from sureline.web.pages.error_page import as_page
from sureline.web.problems import internal_error, problem_of
from sureline.web.reply import Reply

logger = logging.getLogger("sureline.web")


class Boundary:
    """ASGI middleware around all operations; also counts responses and errors of the store.

    Of those each class has a line at the start and one a minute, since every request of an outage
    would have its own. `now` gives monotonic seconds.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, now: Callable[[], float]) -> None:
        self._app = app
        self._metrics = metrics
        self._complaints = Complaints(logger, "the store failed", now, level=logging.ERROR)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, with its path undecoded (see `endpoint`)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw_path = scope.get("raw_path")
        if raw_path is not None:
            scope["path"] = raw_path.decode("latin-1")
        sent, noted = _Sent(send), REQUEST.set(scope)
        try:
            await self._answer(scope, receive, sent)
        finally:
            REQUEST.reset(noted)
        self._count(scope, sent.status)

    async def _answer(self, scope: Scope, receive: Receive, sent: _Sent) -> None:
        try:
            await self._app(scope, receive, sent)
        except ClientGone:
            return
        except SurelineError as error:
            await _answer(sent, as_page(scope, self._reply_to(error)))
        except Exception as error:  # noqa: BLE001 - the last boundary before the network
            logger.error("%s", safe_trace(error))  # noqa: TRY400 - the trace quotes no message
            await _answer(sent, as_page(scope, internal_error()))

    def _reply_to(self, error: SurelineError) -> Reply:
        if isinstance(error, StoreError):
            self._metrics.store.count_error(error)
            self._complaints.tell(type(error).__name__, error.message)
        elif error.status == 500:
            logger.error("%s", safe_trace(error))
        return problem_of(error)

    def _count(self, scope: Scope, status: int) -> None:
        if status == 0:  # whoever asked had left
            return
        route = scope.get("route")
        if route is None:
            self._metrics.count_request(UNKNOWN_PATH, UNKNOWN_PATH, status)
            return
        method = UNKNOWN_PATH if status == 405 else scope["method"]
        self._metrics.count_request(route.path, method, status)


class _Sent:
    """Passes messages on and remembers the status; 0 before the response starts."""

    __slots__ = ("_send", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


async def _answer(sent: _Sent, reply: Reply) -> None:
    if sent.status == 0:  # a response under way cannot be taken back; it stays incomplete
        await reply.send(sent)
