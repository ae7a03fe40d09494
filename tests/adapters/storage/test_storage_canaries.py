"""Runs of the canaries are rows of the ledger, each with what it changed, or nothing."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.application.canary_standings import canary_standings, standing_after
from sureline.core.chain_export import verify_export
from sureline.core.opinions.canary import FailureMode
from sureline.core.opinions.canary_run import CanaryRun, CanaryScore, Evaluator
from sureline.errors import StoreError
from tests.adapters.storage.samples import NOON

HERE = "default"


def run_of(name: str, bad: float | None = 0.0) -> CanaryRun:
    """Return a run of one bad canary and one good one."""
    return CanaryRun(
        id=name,
        evaluator=Evaluator(role="judge", asked="p:größe", answered="m-1", prompt="hash"),
        identity="i" * 64,
        seed="seed",
        line=0.8,
        at=NOON,
        scores=(
            CanaryScore(id="b", mode=FailureMode.PADDED, score=bad, reason=None),
            CanaryScore(id="g", mode=None, score=1.0),
        ),
        answers=("m-1",),
    )


async def save(store: Store, run: CanaryRun, workspace: str = HERE) -> None:
    await store.canaries.save(workspace, run, standing_after(run, workspace))


async def test_runs_come_back_as_they_were_oldest_first(store: Store) -> None:
    """Nothing is lost or rounded, and each workspace sees its own."""
    runs = [run_of("r1"), run_of("r2", 0.1 + 0.2), run_of("r3", None)]
    for run in runs:
        await save(store, run)
    await save(store, run_of("r4"), "other")
    assert list(await store.canaries.all(HERE)) == runs
    assert [one.id for one in await store.canaries.all("other")] == ["r4"]
    assert (await store.ledger.verify()).ok


async def test_a_run_and_its_standing_are_one_transaction(store: Store) -> None:
    """The mark by which processes know of a change grows with the run, or not at all."""
    before = await store.registry.activation_mark()
    await save(store, run_of("r1"))
    passed = await store.registry.activation_mark()
    await save(store, run_of("r2", None))  # incomplete: it changes nothing
    assert before < passed == await store.registry.activation_mark()
    assert await canary_standings(store.registry, HERE) == {"i" * 64: True}
    await save(store, run_of("r3", 1.0))
    assert await canary_standings(store.registry, HERE) == {"i" * 64: False}
    with pytest.raises((StoreError, sqlite3.Error)):
        await save(store, replace(run_of("r1"), identity="j" * 64))  # the id is taken
    assert "j" * 64 not in await canary_standings(store.registry, HERE)


@pytest.mark.parametrize(
    "change",
    ["body = '{}'", "body = 'no JSON'", "body = '[]'", "outcome = 'passed'"],
    ids=["empty", "no-json", "a-list", "a-better-outcome"],
)
async def test_a_changed_run_is_found(path: Path, change: str) -> None:
    """Verification names the row, and a body that cannot be read speaks for nobody."""
    url = f"sqlite:///{path}"
    store = open_store(url)
    await save(store, run_of("r1", 1.0))
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER canary_runs_no_update")
    connection.execute(f"UPDATE canary_runs SET {change}")
    connection.commit()
    connection.close()
    store = open_store(url)
    report = await store.ledger.verify()
    assert report.fault is not None
    assert report.fault.seq == 1
    assert not verify_export(store.ledger.export()).ok
    if change.startswith("body"):
        assert await store.canaries.all(HERE) == []
    store.close()
