"""Is it alive, is it ready, and what does it count?"""

from __future__ import annotations

from sureline.bootstrap import Services, operations_of
from sureline.errors import PolicyError, StoreError
from sureline.web.api.policies import check_whole
from sureline.web.api.shapes import HealthShape, ReadyShape
from sureline.web.faults import NotReady
from sureline.web.metrics import Metrics
from sureline.web.operation import READERS, Answer, Call, Operation
from sureline.web.reply import Reply

_ALIVE = Reply.json({"status": "ok"})


async def health(call: Call) -> Reply:  # noqa: ARG001 - it needs nothing, and that is the point
    """Answer without touching the store."""
    return _ALIVE


async def ready(call: Call) -> Reply:
    """Answer once the store can be read and has a policy."""
    try:
        policy = await call.context.services.policies.latest()
    except PolicyError as error:
        raise NotReady("no policy can be used here") from error
    warnings = list(call.context.services.store.warnings)
    return Reply.json({"status": "ready", "policy": policy.hash, "warnings": warnings})


async def metrics(call: Call) -> Reply:
    """Return the server's counters."""
    check_whole(call)
    counted = call.context.metrics
    try:
        await _read(call.context.services, counted)
    except PolicyError:
        counted.unreadable()
    except StoreError as error:  # what the process itself counted is worth the more then
        counted.store.count_error(error)
        counted.unreadable()
    return Reply(body=counted.text(), media_type=counted.content_type)


async def _read(services: Services, counted: Metrics) -> None:
    """Take over what the store knows."""
    counted.queue.show(await services.queue_health.read())
    counted.log_bytes.set(services.store.log_bytes)
    counted.ledger.show(await services.store.verifications.latest())
    counted.operations.show(await operations_of(services).read())


OPERATIONS = (
    Operation(
        method="GET",
        path="/healthz",
        name="health",
        about="Tell that the process answers; needs no key and no store.",
        run=health,
        answers={200: Answer("It answers.", HealthShape)},
    ),
    Operation(
        method="GET",
        path="/readyz",
        name="ready",
        about="Tell that the store can be read and has a policy; needs no key.",
        run=ready,
        answers={200: Answer("It can decide.", ReadyShape)},
        problems=frozenset({503}),
    ),
    Operation(
        method="GET",
        path="/metrics",
        name="metrics",
        about="Return the server's counters for Prometheus.",
        run=metrics,
        roles=READERS,
        from_memory=True,
        traced=False,
        answers={200: Answer("The counters.", str, "text/plain")},
    ),
)
