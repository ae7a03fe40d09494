"""Whoever is on call is told of what nobody decided, at any hour."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from sureline.testing import FixedClock
from tests.outbox.told import courier, opened, pass_time, policy, submit, webhook
from tests.receivers import SECRET, Receiver, receiving

GROUPS = """\
groups:
  letters:
    members: [ada]
    slices: [replies]
    hours: {time_zone: UTC, week: {mon-fri: 09:00-17:00}}
    on_call: {person: lee, channel: pager}
"""
FRIDAY = datetime(2026, 3, 6, 16, 0, tzinfo=UTC)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    with receiving() as found:
        yield found


async def test_a_step_up_and_an_expiry_reach_the_on_call(receiver: Receiver) -> None:
    """The channel takes nothing else; the group's time is working time, the on-call's is not."""
    channel = webhook(receiver.url, "pager", events="[decided]", slices="[invoices]", keys="[k1]")
    clock = FixedClock(FRIDAY)
    services = await opened(None, policy(channel) + GROUPS, clock)
    carrier = courier(services)
    first = await submit(services)
    item = await services.store.reviews.get("default", first)
    assert item is not None
    # 1440 minutes are three days of eight hours: one hour of Friday is gone at its evening.
    assert item.deadline == datetime(2026, 3, 11, 16, 0, tzinfo=UTC)

    async def told() -> list[tuple[str, int]]:
        await services.desk.settle()
        await carrier.round()
        events = [json.loads(one.body) for one in receiver.received]
        return [(one["type"], one["data"]["level"]) for one in events]

    assert await told() == []
    pass_time(services, item.deadline - FRIDAY)
    assert await told() == [("review.escalated", 1)]
    pass_time(services, timedelta(days=1))  # the on-call has the clock
    assert await told() == [("review.escalated", 1), ("review.expired", 1)]
    services.close()


async def test_other_slices_do_not_call(receiver: Receiver) -> None:
    """What has no group is told to whom the channel's own settings say."""
    channel = webhook(receiver.url, "pager", events="[decided]")
    services = await opened(None, policy(channel) + GROUPS, FixedClock(FRIDAY))
    await submit(services, slice_key="invoices", output={"total": 7})
    for _ in range(2):
        pass_time(services, timedelta(days=1))
        await services.desk.settle()
    await courier(services).round()
    assert receiver.received == []
    services.close()
