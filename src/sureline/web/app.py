"""Put the server together: one table of operations, one boundary around it."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import NoReturn

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route

from sureline.bootstrap import Services
from sureline.errors import NotFound
from sureline.web.api import (
    calibrations,
    decisions,
    health,
    outcomes,
    policies,
    slices,
    switches,
)
from sureline.web.boundary import Boundary
from sureline.web.context import ServerContext
from sureline.web.endpoint import Endpoint
from sureline.web.openapi import describe
from sureline.web.operation import Answer, Call, Operation
from sureline.web.reply import Reply
from sureline.web.settings import ServerSettings

DESCRIPTION_PATH = "/openapi.json"

OPERATIONS: tuple[Operation, ...] = (
    *decisions.OPERATIONS,  # first: the address that is asked most is found soonest
    *outcomes.OPERATIONS,
    *switches.OPERATIONS,
    *policies.OPERATIONS,
    *slices.OPERATIONS,
    *calibrations.OPERATIONS,
    *health.OPERATIONS,
)


def create_app(services: Services, *, settings: ServerSettings | None = None) -> Starlette:
    """Return the ASGI application on `services`, which stay the caller's to close.

    `app.state.context` is its ServerContext; setting `closing` there ends all waiting.
    """
    context = ServerContext.of(services, settings or ServerSettings())
    operations = (*OPERATIONS, _description())
    routes = [
        Route(path, Endpoint(context, {one.method: one for one in group}), name=path)
        for path, group in groupby(sorted(operations, key=_order), key=attrgetter("path"))
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Boundary, metrics=context.metrics)],
        exception_handlers={HTTPException: _raise_not_found},
    )
    app.router.redirect_slashes = False
    app.state.context = context
    return app


def _order(operation: Operation) -> int:
    """Keep the table's order, an address's methods together."""
    paths = [one.path for one in OPERATIONS]
    return paths.index(operation.path) if operation.path in paths else len(paths)


def _description() -> Operation:
    """Return the operation that describes the others."""

    async def show(call: Call) -> Reply:  # noqa: ARG001 - it is the same for every call
        return described

    operation = Operation(
        method="GET",
        path=DESCRIPTION_PATH,
        name="describe",
        about="Return this description; needs no key.",
        run=show,
        answers={200: Answer("The OpenAPI document.", dict)},
    )
    described = Reply.json(describe((*OPERATIONS, operation)))
    return operation


def _raise_not_found(request: Request, error: Exception) -> NoReturn:  # noqa: ARG001
    """Leave the wording to the boundary; starlette raises this only for unknown addresses."""
    raise NotFound("there is nothing at this address")
