"""Runs the operations of one address: who may, what the body says, then the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import Receive, Scope, Send

from sureline.application.ports.keys import ApiKey
from sureline.application.ports.tracing import UNTRACED
from sureline.errors import NotFound
from sureline.web.context import ServerContext
from sureline.web.faults import MethodNotAllowed
from sureline.web.log_format import TRACE_ID
from sureline.web.operation import Call, Operation
from sureline.web.signed_body import signed_body

_NOTHING: dict[str, Any] = {}


class Endpoint:
    """An ASGI application for one path; `operations` are its methods."""

    def __init__(self, context: ServerContext, operations: Mapping[str, Operation]) -> None:
        self._context = context
        self._operations = dict(operations)
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._allowed = ", ".join(sorted(self._operations))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what goes wrong is raised, see `boundary`."""
        operation = self._operations.get(scope["method"])
        if operation is None:
            raise MethodNotAllowed(self._allowed)
        headers = dict(scope["headers"])
        context = self._context
        # The key first: nobody unknown makes the server read a body.
        caller = None
        if operation.roles:
            caller = await context.access.admit(
                headers, operation.roles, from_memory=operation.from_memory
            )
        name = f"{operation.method} {operation.path}"
        traceparent = headers.get(b"traceparent")
        # And nobody unknown makes spans.
        traced = operation.traced and caller is not None
        tracer = context.services.plugins.tracer if traced else UNTRACED
        with tracer.request(name, traceparent) as span:
            scope[TRACE_ID] = span.trace_id
            span.note({"http.request.method": operation.method, "http.route": operation.path})
            call = await self._read(operation, scope, receive, headers, caller)
            reply = await operation.run(call)
            span.note({"http.response.status_code": reply.status})
            await reply.send(send)

    async def _read(
        self,
        operation: Operation,
        scope: Scope,
        receive: Receive,
        headers: Mapping[bytes, bytes],
        caller: ApiKey | None,
    ) -> Call:
        """Read what the request says. Raises what is wrong with it."""
        context, body, signed = self._context, _NOTHING, None
        if operation.signed:
            signed = await signed_body(scope, headers, receive, context)
        elif operation.body is not None:
            raw = await context.bodies.json_object(
                headers, receive, may_be_empty=operation.may_be_empty
            )
            body = operation.read(raw)
        return Call(
            context=context,
            caller=caller,
            params=_decoded(scope["path_params"]),
            body=body,
            query_string=scope["query_string"],
            receive=receive,
            headers=headers,
            signed=signed,
        )


def _decoded(params: Mapping[str, str]) -> Mapping[str, str]:
    """Undo the percent-encoding of each step, so that an id may hold a slash."""
    if not params:
        return params
    try:
        return {
            name: unquote_to_bytes(value).decode("utf-8", "strict")
            for name, value in params.items()
        }
    except UnicodeDecodeError:
        raise NotFound("the address is not UTF-8") from None
