"""The store keeps to what somebody is offered, in lists, searches and when the next is taken."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.ports.inbox import Sought
from sureline.application.ports.reviews import Wanted
from sureline.application.review.claiming import claiming
from sureline.bootstrap import Services
from sureline.testing import FixedClock
from tests.adapters.storage.test_storage_reviews import opened

POLICY = """\
version: 1
defaults: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
slices: {a: , b: , c: }
"""
ALL = ["a0", "a1", "b0", "b1", "c0", "c1"]
OFFERED: dict[str, tuple[Mapping[str, int | None], list[str]]] = {
    "everything": ({}, ALL),
    "all but one slice": ({"b": None}, ["a0", "a1", "c0", "c1"]),
    "of one slice, what went a step up": ({"b": 1}, ["a0", "a1", "b1", "c0", "c1"]),
    "of one slice, what went two": ({"b": 2}, ["a0", "a1", "c0", "c1"]),
    "of all, what went a step up": (dict.fromkeys("abc", 1), ["b1"]),
    "nothing": (dict.fromkeys("abc"), []),
}


async def queue(path: Path) -> Services:
    """Return a store with two items in each of three slices; b1 went a step up."""
    clock = FixedClock()
    services = opened(path / "store.db", clock)
    await services.policies.introduce(POLICY)
    for name in ALL:
        given: dict[str, Any] = {"slice_key": name[0], "task": "answer", "output": f"Yes, {name}."}
        await services.decider.decide(read_proposal({**given, "id": name}, workspace="default"))
        clock.advance(timedelta(seconds=1))
    await services.desk.escalate("b1", "mo")
    return services


@pytest.mark.parametrize(("least", "ids"), OFFERED.values(), ids=OFFERED.keys())
async def test_what_is_offered_is_listed_found_and_taken(
    tmp_path: Path, least: Mapping[str, int | None], ids: list[str]
) -> None:
    """List, search and next agree, and what is left out stays free."""
    services = await queue(tmp_path)
    wanted, now, store = Wanted(least=least), services.clock.now(), services.store
    listed = await store.reviews.list("default", wanted, limit=50)
    assert sorted(one.id for one in listed) == ids
    paged = [await store.reviews.list("default", wanted, limit=1, offset=at) for at in range(6)]
    assert [one.id for page in paged for one in page] == [one.id for one in listed]
    for sought in (Sought(text="answer"), Sought(rank=0), Sought(due_by=now + timedelta(days=9))):
        found = await store.inbox.find("default", wanted, sought, now=now, limit=50)
        assert sorted(one.id for one in found.items) == ids
    taken = []
    while item := await store.reviews.claim_next(
        "default", wanted, claiming("ada", now), by="ada", now=now
    ):
        taken.append(item.id)
    assert sorted(taken) == ids
    held = await store.inbox.find("default", wanted, Sought(held_by="ada"), now=now, limit=50)
    assert sorted(one.id for one in held.items) == ids
    services.close()


async def test_what_is_over_is_there_for_all(tmp_path: Path) -> None:
    """A group divides work, and hides nothing that was done."""
    services = await queue(tmp_path)
    await services.store.ledger.erase(
        "default", "b0", by="ada", reason="asked", at=services.clock.now()
    )
    wanted = Wanted(least={"b": None}, is_open=False)
    assert [one.id for one in await services.desk.page(wanted)] == ["b0"]
    services.close()


async def test_hours_and_steps_are_kept(tmp_path: Path) -> None:
    """An item read back has the hours in which its deadline counts, and when it went up."""
    services = opened(tmp_path / "store.db", FixedClock())
    await services.policies.introduce(
        POLICY
        + "groups: {g: {members: [ada], slices: [a], on_call: {person: lee}, hours: "
        + "{time_zone: Europe/Berlin, week: {mon-fri: 09:00-17:00, sat: 22:00-06:00+1}}}}\n"
    )
    given = {"slice_key": "a", "task": "answer", "output": "Yes.", "id": "a0"}
    await services.decider.decide(read_proposal(given, workspace="default"))
    group = (await services.policies.latest()).groups["g"]
    item = await services.store.reviews.get("default", "a0")
    assert item is not None
    assert item.rules.hours == (group.hours, None)
    assert item.deadline > item.opened_at + timedelta(days=2)
    up = await services.desk.escalate("a0", "ada")
    assert up.stepped_at == services.clock.now()
    assert up.deadline == services.clock.now() + timedelta(days=1)
    assert await services.store.reviews.get("default", "a0") == up
    services.close()
