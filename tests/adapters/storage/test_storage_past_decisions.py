"""Decisions stream back with their effective labels, in a file and in memory."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sureline.adapters.storage import past_decisions
from sureline.adapters.storage.store import Store
from sureline.application.ports.ledger import PastDecision
from sureline.core.values.outcome import Action, OutcomeSource
from tests.adapters.storage.samples import NOON, outcome, record


async def read(store: Store, **narrow: object) -> list[PastDecision]:
    asked = {"workspace": "default", "slice_key": "invoices", **narrow}
    return [one async for one in store.ledger.past_decisions(**asked)]  # type: ignore[arg-type]


async def test_a_decision_streams_with_its_label(store: Store) -> None:
    """What was recorded comes back, and the label that holds now beside it."""
    written = record(route="auto_approve", would_route=None, audit=True, propensity=0.05)
    await store.ledger.append(written)
    await store.ledger.record_outcome(outcome(source=OutcomeSource.AUDIT))
    rejected = {"action": Action.REJECT, "correct": False, "source": OutcomeSource.INCIDENT}
    await store.ledger.record_outcome(outcome("o2", **rejected))
    (found,) = await read(store)
    for name in ("id", "route", "audit", "propensity", "task_digest", "created_at", "body"):
        assert getattr(found, name) == getattr(written, name)
    assert (found.correct, found.label_source) == (False, "incident")


async def test_an_unreviewed_decision_has_no_label(store: Store) -> None:
    """Nobody answered, or the answer was none: that is not a label."""
    await store.ledger.append(record(1))
    await store.ledger.append(record(2))
    await store.ledger.record_outcome(outcome(decision_id="d2", action=Action.SKIP, correct=None))
    assert [(one.correct, one.label_source) for one in await read(store)] == [(None, None)] * 2


async def test_only_what_was_asked_for_streams(store: Store) -> None:
    """Workspace, slice and date narrow the stream."""
    later = NOON + timedelta(days=1)
    await store.ledger.append(record(1))
    await store.ledger.append(record(2, created_at=later))
    await store.ledger.append(record(3, slice_key="letters"))
    await store.ledger.append(record(4, workspace="other"))
    assert [one.id for one in await read(store)] == ["d1", "d2"]
    assert [one.id for one in await read(store, since=later)] == ["d2"]
    assert [one.id for one in await read(store, workspace="other")] == ["d4"]


async def test_pages_join_without_a_gap(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pages give each decision once, and what is written meanwhile is left out."""
    monkeypatch.setattr(past_decisions, "PAGE", 3)
    for number in range(9):
        await store.ledger.append(record(number))
    seen = []
    async for one in store.ledger.past_decisions("default", "invoices"):
        if not seen:
            await store.ledger.append(record("late"))
        seen.append(one.id)
    assert seen == [f"d{number}" for number in range(9)]


async def test_an_empty_store_streams_nothing(store: Store) -> None:
    """No decision, no row."""
    assert await read(store) == []
