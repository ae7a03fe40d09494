"""How the outbox stands: what waits, since when, and what died."""

from __future__ import annotations

from datetime import timedelta

from sureline.application.ports.outbox import Claiming, DeliveryState
from sureline.bootstrap import operations_of
from sureline.core.review.pacing import Pace
from tests.outbox.told import opened, pass_time, policy, submit, webhook

W = "default"


async def test_what_nobody_took_up_yet_waits_too() -> None:
    """A notice counts from the moment it tells of, with and without somebody who delivers."""
    services = await opened(None, policy(webhook("https://hooks.example.com/x")))
    reader = operations_of(services)
    assert ((await reader.read()).untold, (await reader.read()).untold_seconds) == (0, 0.0)
    await submit(services)
    pass_time(services, timedelta(minutes=7))
    found = await reader.read()
    assert (found.untold, found.dead) == (1, 0)
    assert found.untold_seconds == 420
    now = services.clock.now()
    await services.store.outbox.spread(W, lambda notice: ["hook"], now=now, limit=10)
    assert (await reader.read()).untold == 1
    services.close()


async def test_what_died_is_counted_apart() -> None:
    """It waits for a person and for nobody else."""
    services = await opened(None, policy(webhook("https://hooks.example.com/x")))
    store, now = services.store.outbox, services.clock.now()
    await submit(services)
    await store.spread(W, lambda notice: ["hook"], now=now, limit=10)
    how = Claiming(
        now=now,
        until=now + timedelta(minutes=1),
        pace=Pace(gap=timedelta(seconds=1), burst=10),
        most=10,
        together=False,
    )
    (taken,) = await store.claim(W, "hook", how)
    await store.finish(W, taken, now=now, state=DeliveryState.DEAD, said="gone")
    found = await operations_of(services).read()
    assert (found.untold, found.untold_seconds, found.dead) == (0, 0.0, 1)
    services.close()
