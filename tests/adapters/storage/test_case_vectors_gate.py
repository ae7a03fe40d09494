"""What a gate records of its search beyond the memory; and who decides when that fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sureline import Gate, Plugins
from sureline.core.values.signal import Signal, SignalState
from tests.postgres import Postgres

POLICY = """\
version: 1
slices:
  payments:
    mode: log_only
    weights: {verification: 0.5, history: 0.5}
    history: {neighbours: 4, fields: [vendor], window: 1000}
"""
VENDORS = ("Harbour Paper", "Northern Steel", "Quiet Valley Dairy")


def opened(store: str, folder: Path) -> Gate:
    """Open a gate that keeps five cases of a slice in memory."""
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    return Gate.open(policy, store=store, plugins=Plugins(most_cases=5))


@pytest.fixture
def on_postgres(postgres: Postgres, tmp_path: Path) -> Iterator[Gate]:
    """Open it on PostgreSQL."""
    with opened(postgres.database(), tmp_path) as gate:
        yield gate


async def decide(gate: Gate, number: int) -> Signal:
    """Decide about a payment; return what its history said."""
    decision = await gate.decide(
        slice_key="payments",
        task="Pay it",
        output={"vendor": f"{VENDORS[number % 3]} {number}"},
        id=f"p{number}",
    )
    return next(signal for signal in decision.signals if signal.name == "history")


async def teach(gate: Gate, numbers: range) -> None:
    """Let a person approve payments."""
    for number in numbers:
        await decide(gate, number)
        await gate.record_outcome(f"p{number}", action="approve", by="Ada")


async def test_a_decision_says_how_its_past_was_searched(on_postgres: Gate) -> None:
    """In memory while all of the window is there, then exactly in the database."""
    await teach(on_postgres, range(4))
    assert (await decide(on_postgres, 100)).detail["searched"] == "memory"
    await teach(on_postgres, range(4, 12))
    found = await decide(on_postgres, 102)
    assert found.state is SignalState.MEASURED
    assert (found.detail["searched"], found.detail["cases"]) == ("exact", 12)
    assert "older" not in found.detail


async def test_on_a_file_it_says_that_older_cases_were_left_out(tmp_path: Path) -> None:
    """The window stays what fits into memory, and no decision hides that."""
    with opened(f"sqlite:///{tmp_path / 'store.db'}", tmp_path) as gate:
        await teach(gate, range(12))
        detail = (await decide(gate, 102)).detail
    assert (detail["searched"], detail["older"], detail["cases"]) == ("memory", "sqlite", 5)


async def test_where_the_database_cannot_search_a_person_decides(on_postgres: Gate) -> None:
    """A damaged table is no reason to look at fewer cases."""
    await teach(on_postgres, range(12))
    with psycopg.connect(on_postgres.services.store.url) as owner:
        owner.execute("ALTER TABLE case_vectors RENAME COLUMN vector TO elsewhere")
    found = await decide(on_postgres, 102)
    assert (found.state, found.reason) == (SignalState.FAILED, "search_failed")
