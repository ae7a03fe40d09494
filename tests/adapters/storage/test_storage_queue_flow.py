"""What goes through the queue is counted as it happens, and nothing twice."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

from sureline.application.review.desk import Said
from sureline.bootstrap import Services
from sureline.core.values.outcome import Action
from sureline.core.values.queue_flow import WAITS, Flow
from sureline.testing import FixedClock
from tests.adapters.storage.test_storage_reviews import opened, submitted


async def flow(services: Services) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for one in await services.store.queue_flow.since("default", 0):
        found[one.cell.flow.value, one.cell.waited] += one.count
    return found


async def say(services: Services, review_id: str, action: Action = Action.APPROVE) -> None:
    digest = (await services.desk.show(review_id)).review.digest
    await services.desk.decide(review_id, Said(action=action, by="ada", digest=digest))


async def test_each_item_is_counted_once(tmp_path: Path) -> None:
    """Opened, decided after a wait, and expired; claims and steps up count for nothing."""
    clock = FixedClock()
    services = opened(tmp_path / "store.db", clock)
    first, second, third = await submitted(services, 3)
    assert await flow(services) == {("opened", -1): 3}
    clock.advance(timedelta(hours=2))
    await services.desk.claim(first, "ada")
    await say(services, first)
    (decided,) = [key for key in await flow(services) if key[0] == Flow.DECIDED]
    assert 7200 <= WAITS[decided[1]] < 7200 * 1.42
    await services.desk.undo(first, "ada")
    assert await flow(services) == {("opened", -1): 3}
    await say(services, first, Action.REJECT)
    await services.store.ledger.erase("default", third, by="ada", reason="asked", at=clock.now())
    clock.advance(timedelta(days=2))
    await services.desk.settle()
    clock.advance(timedelta(days=1))
    await services.desk.settle()
    assert await flow(services) == {
        ("opened", -1): 3,
        ("withdrawn", -1): 1,
        ("expired", -1): 1,
        (Flow.DECIDED.value, decided[1]): 1,
    }
    assert (await services.desk.store.get("default", second)).state == "expired"  # type: ignore[union-attr]
    services.close()


async def test_the_health_of_a_queue_names_slice_and_lever(tmp_path: Path) -> None:
    """Rates, ages and waits over the days since something came; an expiry is too much."""
    clock = FixedClock()
    services = opened(tmp_path / "store.db", clock)
    ids = await submitted(services, 12)
    clock.advance(timedelta(hours=1))
    for one in ids[:4]:
        await say(services, one)
    report = await services.queue_health.read()
    (row,) = report.slices
    load = row.load
    assert (row.name, load.arrived, load.decided, load.open) == ("replies", 12, 4, 8)
    assert row.p50 == row.p95 is not None
    assert timedelta(hours=1) <= row.p50 < timedelta(hours=1.42)
    assert report.warnings == ()
    clock.advance(timedelta(days=1))
    await services.desk.settle()
    clock.advance(timedelta(days=1))
    await services.desk.settle()
    (warning,) = (await services.queue_health.read()).warnings
    assert warning.startswith("replies is overloaded: in 2 days 8 expired undecided, and 0 wait.")
    assert "3.0 times the people" in warning
    assert (await services.queue_health.read(days=1)).warnings != ()
    services.close()
