"""Put the server together: one table of operations, one boundary around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NoReturn

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from sureline.bootstrap import Services
from sureline.errors import NotFound
from sureline.web.api import (
    audits,
    calibrations,
    decisions,
    erasures,
    health,
    inbound,
    incidents,
    logbook,
    missions,
    outcomes,
    policies,
    recalls,
    reports,
    reviewers,
    reviews,
    suggestions,
    switches,
)
from sureline.web.api import slices as slice_operations
from sureline.web.boundary import Boundary
from sureline.web.context import ServerContext
from sureline.web.endpoint import Endpoint
from sureline.web.openapi import describe
from sureline.web.operation import Answer, Call, Operation
from sureline.web.pages import (
    calibration_page,
    confident_rejects,
    dashboard,
    decision_page,
    downloads,
    events,
    inbox,
    incidents_page,
    logbook_page,
    mission_pages,
    policy_pages,
    review,
    sign_in,
    slices,
    static_files,
    switch_page,
    views,
)
from sureline.web.pages import reviewers as reviewers_page
from sureline.web.pages.page import Page, PageEndpoint
from sureline.web.reply import Reply
from sureline.web.settings import ServerSettings

PAGES: tuple[Page, ...] = (
    *inbox.PAGES,
    *views.PAGES,
    *events.PAGES,
    *review.PAGES,
    *dashboard.PAGES,
    *reviewers_page.PAGES,
    *slices.PAGES,
    *calibration_page.PAGES,
    *confident_rejects.PAGES,
    *policy_pages.PAGES,
    *switch_page.PAGES,
    *decision_page.PAGES,
    *mission_pages.PAGES,
    *incidents_page.PAGES,
    *logbook_page.PAGES,
    *downloads.PAGES,
    *sign_in.PAGES,
    *static_files.PAGES,
)
"""What people see; an address's methods stand together."""

DESCRIPTION_PATH = "/openapi.json"

OPERATIONS: tuple[Operation, ...] = (
    *decisions.OPERATIONS,  # first: the address that is asked most is found soonest
    *missions.OPERATIONS,
    *outcomes.OPERATIONS,
    *audits.OPERATIONS,
    *reviews.OPERATIONS,
    *inbound.OPERATIONS,
    *switches.OPERATIONS,
    *policies.OPERATIONS,
    *slice_operations.OPERATIONS,
    *suggestions.OPERATIONS,
    *calibrations.OPERATIONS,
    *reports.OPERATIONS,
    *reviewers.OPERATIONS,
    *incidents.OPERATIONS,
    *recalls.OPERATIONS,
    *erasures.OPERATIONS,
    *logbook.OPERATIONS,
    *health.OPERATIONS,
)


class HttpApp:
    """The ASGI application; setting `context.closing` ends all waiting for people.

    It is a router inside the boundary and nothing else: starlette's own application would wrap
    every request in error handling that the boundary does already.
    """

    def __init__(self, context: ServerContext, operations: Sequence[Operation]) -> None:
        self.context = context
        routes = [
            Route(path, Endpoint(context, {one.method: one for one in group}), name=path)
            for path, group in groupby(operations, key=attrgetter("path"))
        ]
        routes += [
            Route(path, PageEndpoint(context, tuple(group)), name=path)
            for path, group in groupby(PAGES, key=attrgetter("path"))
        ]
        self.router = Router(routes, redirect_slashes=False, default=_nothing_here)
        self._fixed = {route.path: route for route in routes if "{" not in route.path}
        self._boundary = Boundary(self._find, context.metrics, context.services.clock.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await self._boundary(scope, receive, send)

    async def _find(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; an address without placeholders is found without patterns."""
        route = self._fixed.get(scope["path"]) if scope["type"] == "http" else None
        if route is None:
            await self.router(scope, receive, send)
            return
        scope["route"], scope["path_params"] = route, {}
        await route.app(scope, receive, send)


def create_app(services: Services, *, settings: ServerSettings | None = None) -> HttpApp:
    """Return the application on `services`, which stay the caller's to close."""
    context = ServerContext.of(services, settings or ServerSettings())
    return HttpApp(context, (*sorted(OPERATIONS, key=_order), _description()))


def _order(operation: Operation) -> int:
    """Keep the table's order, an address's methods together."""
    return [one.path for one in OPERATIONS].index(operation.path)


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


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> NoReturn:  # noqa: ARG001
    raise NotFound("there is nothing at this address")
