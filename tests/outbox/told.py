"""A store whose policy tells channels, and the ways to make something happen in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sureline.application.intake import read_proposal
from sureline.application.outbox.courier import Courier
from sureline.application.ports.outbox import Delivery
from sureline.application.review.desk import Said
from sureline.bootstrap import Plugins, Services, courier_of, open_services
from sureline.core.values.outcome import Action
from sureline.testing import FixedClock

SLICES = """\
version: 1
slices:
  replies: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
  invoices:
    output: {json_schema: {type: object}}
    weights: {verification: 1}
"""


def webhook(url: str, name: str = "hook", **more: Any) -> str:
    """Return a channel of the policy."""
    rest = "".join(f", {key}: {value}" for key, value in more.items())
    return f'{{name: {name}, kind: webhook, url: "{url}", secret_from: HOOK_SECRET{rest}}}'


def policy(*channels: str, fields: str = "[]", page: str = "https://review.example.com") -> str:
    """Return a policy that tells these channels."""
    listed = "".join(f"    - {one}\n" for one in channels)
    listed = listed or "    []\n"
    return (
        f"{SLICES}notifications:\n  page: {page}\n  allow_private: [127.0.0.1]\n"
        f"  fields: {fields}\n  channels:\n{listed}"
    )


def now() -> datetime:
    """Return the time of this machine: receivers' libraries look at it."""
    return datetime.now(UTC)  # noqa: TID251


async def opened(path: Path | None, text: str, clock: FixedClock | None = None) -> Services:
    """Open a store under a policy."""
    url = "sqlite://" if path is None else f"sqlite:///{path}"
    services = open_services(url, plugins=Plugins(clock=clock or FixedClock(now())))
    await services.policies.introduce(text)
    return services


async def submit(services: Services, number: int = 0, **more: Any) -> str:
    """Bring an output before the gate; it goes to people."""
    given = {"slice_key": "replies", "task": f"answer letter {number}", "output": "Yes."}
    submitted_by = more.pop("submitted_by", None)
    proposal = read_proposal(
        {**given, "id": f"d{number:03}", **more}, workspace="default", submitted_by=submitted_by
    )
    return (await services.decider.decide(proposal)).decision.id


async def decide(services: Services, review_id: str, action: Action = Action.APPROVE) -> None:
    """Decide about an item; it is not released yet."""
    shown = await services.desk.show(review_id)
    said = Said(action=action, by="ada", digest=shown.review.digest)
    await services.desk.decide(review_id, said)


async def release(services: Services) -> None:
    """Let the time pass in which verdicts can be taken back."""
    pass_time(services, timedelta(seconds=11))
    await services.desk.settle()


def pass_time(services: Services, step: timedelta) -> None:
    """Let time pass."""
    assert isinstance(services.clock, FixedClock)
    services.clock.advance(step)


def courier(services: Services, *, seconds: float = 15.0) -> Courier:
    """Return what delivers, without chance."""
    return replace(courier_of(services), jitter=lambda: 0.5, send_seconds=seconds)


async def outbox(services: Services) -> list[Delivery]:
    """Return all deliveries, the oldest first."""
    found = await services.store.outbox.list("default", state=None, channel=None, limit=10_000)
    return list(reversed(found))


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what happens on another thread."""
    while not happened():  # noqa: ASYNC110 - the other thread knows no event of this loop
        await asyncio.sleep(0.01)
