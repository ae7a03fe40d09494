"""A job is leased to one owner at a time, and its state outlives the process."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.jobs import JobState
from tests.adapters.storage.samples import NOON

HOUR = timedelta(hours=1)


def wish(owner: str = "a", at: datetime = NOON) -> JobState:
    return JobState(
        name="watch", due_at=at, owner=owner, started_at=at, leased_until=at + 0.5 * HOUR
    )


async def _claims(store: Store, wanted: JobState) -> bool:
    assert wanted.started_at is not None
    return await store.jobs.claim("default", wanted, latest=wanted.started_at + HOUR) is not None


def ended(state: JobState, due_at: datetime, **changes: object) -> JobState:
    return replace(state, due_at=due_at, leased_until=None, **changes)  # type: ignore[arg-type]


async def test_a_job_never_met_is_due(store: Store) -> None:
    """The first claim takes it, and it is remembered as leased."""
    assert await _claims(store, wish())
    (state,) = await store.jobs.states("default")
    assert (state.owner, state.leased_until) == ("a", NOON + 0.5 * HOUR)
    assert await store.jobs.states("other") == []


@pytest.mark.parametrize(
    ("after", "taken"),
    [(0.25, False), (0.5, True)],
    ids=["while it is leased", "once the lease has run out"],
)
async def test_a_lease_keeps_others_out_until_it_ends(
    store: Store, after: float, taken: bool
) -> None:
    """Somebody who died holding a job does not keep it for ever."""
    assert await _claims(store, wish("a"))
    assert await _claims(store, wish("b", NOON + after * HOUR)) is taken


@pytest.mark.parametrize(
    ("due", "taken"),
    [(1.0, False), (0.75, True), (1.8, True)],
    ids=["not yet due", "overdue", "further away than any interval: a clock was wrong"],
)
async def test_what_is_finished_waits_for_its_time(store: Store, due: float, taken: bool) -> None:
    """The next run is at `due_at`, late rather than never."""
    assert await _claims(store, wish())
    assert await store.jobs.finish("default", ended(wish(), NOON + due * HOUR, message="fine"))
    assert await _claims(store, wish("b", NOON + 0.75 * HOUR)) is taken
    (state,) = await store.jobs.states("default")
    assert state.message == "fine"


async def test_only_the_owner_finishes(store: Store) -> None:
    """A run whose lease was taken over does not overwrite its successor's."""
    assert await _claims(store, wish("a"))
    assert await _claims(store, wish("b", NOON + HOUR))
    assert not await store.jobs.finish("default", ended(wish("a"), NOON + 2 * HOUR))
    assert await store.jobs.finish(
        "default", ended(wish("b", NOON + HOUR), NOON + 2 * HOUR, failures=3)
    )
    (state,) = await store.jobs.states("default")
    assert (state.failures, state.owner) == (3, "b")


async def test_two_processes_share_the_leases(path: Path) -> None:
    """A second opening of the file sees the first one's lease, and state survives closing."""
    one, other = open_store(f"sqlite:///{path}"), open_store(f"sqlite:///{path}")
    assert await _claims(one, wish("a"))
    assert not await _claims(other, wish("b"))
    one.close()
    assert [state.owner for state in await other.jobs.states("default")] == ["a"]
    other.close()
