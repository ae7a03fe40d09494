"""The queue in the store: of many at once one wins, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import Said
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.outcome import Action
from sureline.core.values.review import ReviewState
from sureline.errors import Conflict, NotFound, StoreBusy
from sureline.testing import FixedClock

POLICY = """\
version: 1
slices:
  replies: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
"""


def opened(path: Path, clock: FixedClock | None = None) -> Services:
    return open_services(f"sqlite:///{path}", plugins=Plugins(clock=clock or FixedClock()))


async def submitted(services: Services, count: int) -> list[str]:
    """Bring so many outputs before the gate; all go to people."""
    await services.policies.introduce(POLICY)
    found = []
    for number in range(count):
        answer = await services.decider.decide(proposal(number))
        found.append(answer.decision.id)
    return found


def proposal(number: int):  # type: ignore[no-untyped-def]
    from sureline.application.intake import read_proposal

    given = {"slice_key": "replies", "task": f"answer letter {number}", "output": f"Yes, {number}."}
    return read_proposal({**given, "id": f"d{number:03}"}, workspace="default")


def race(path: str, who: str, items: int) -> list[str]:
    """Try to decide every item, as one of several reviewers; return those that were won."""

    async def work() -> list[str]:
        won = []
        with_services = opened(Path(path))
        left = [f"d{number:03}" for number in reversed(range(items))]
        while left:
            review_id = left.pop()
            try:
                shown = await with_services.desk.show(review_id)
                said = Said(action=Action.APPROVE, by=who, digest=shown.review.digest)
                await with_services.desk.decide(review_id, said)
            except Conflict:
                continue
            except StoreBusy:  # nothing was stored, so it is tried again: a verdict would show
                left.append(review_id)
                continue
            won.append(review_id)
        with_services.close()
        return won

    return asyncio.run(work())


def _race_in_threads(path: str, process: int, threads: int, items: int) -> list[list[str]]:
    with ThreadPoolExecutor(threads) as pool:
        names = [f"p{process}-t{thread}" for thread in range(threads)]
        return list(pool.map(lambda who: race(path, who, items), names))


@pytest.mark.slow
def test_of_many_reviewers_one_wins_each_item(tmp_path: Path) -> None:
    """Four processes with 50 threads race on 100 items: 100 verdicts, each released once."""
    path, items = tmp_path / "store.db", 100
    services = opened(path)
    asyncio.run(submitted(services, items))
    services.close()
    jobs = [
        (str(path), process, threads, items) for process, threads in enumerate((13, 13, 12, 12))
    ]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        won = [one for found in pool.starmap(_race_in_threads, jobs) for one in found]
    assert sorted(one for ids in won for one in ids) == [f"d{number:03}" for number in range(items)]
    clock = FixedClock()
    clock.advance(timedelta(seconds=10))
    services = opened(path, clock)

    async def released() -> list[int]:
        await asyncio.gather(*(services.desk.settle() for _ in range(5)))
        return [
            len(await services.ledger.outcomes("default", f"d{number:03}"))
            for number in range(items)
        ]

    assert asyncio.run(released()) == [1] * items
    services.close()


async def test_a_crash_between_claim_and_verdict_loses_nothing(tmp_path: Path) -> None:
    """Another process finds the item, free again when the lease is over."""
    clock = FixedClock()
    first = opened(tmp_path / "store.db", clock)
    (review_id,) = await submitted(first, 1)
    await first.desk.claim(review_id, "ada")
    second = opened(tmp_path / "store.db", clock)
    assert await second.desk.next("kim", Wanted()) is None
    clock.advance(timedelta(minutes=15))
    taken = await second.desk.next("kim", Wanted())
    assert taken is not None
    assert taken.claimed_by == "kim"
    first.close()
    second.close()


async def test_what_is_erased_leaves_the_queue(tmp_path: Path) -> None:
    """An item without its payload cannot be decided, and the ledger still verifies."""
    services = opened(tmp_path / "store.db")
    (review_id,) = await submitted(services, 1)
    await services.store.ledger.erase(
        "default", review_id, by="ada", reason="asked", at=FixedClock().now()
    )
    item = await services.store.reviews.get("default", review_id)
    assert item is not None
    assert item.state is ReviewState.SUPERSEDED
    with pytest.raises(NotFound):
        await services.desk.show(review_id)
    assert (await services.store.ledger.verify()).ok
    services.close()


async def test_an_answer_from_elsewhere_closes_the_item(tmp_path: Path) -> None:
    """Who records an outcome by hand has reviewed the item."""
    from sureline.application.label import GivenAnswer

    services = opened(tmp_path / "store.db")
    (review_id,) = await submitted(services, 1)
    answer = GivenAnswer(decision_id=review_id, action=Action.REJECT, by="ada")
    await services.labeller.record("default", answer)
    assert await services.desk.page(Wanted()) == []
    (over,) = await services.desk.page(Wanted(is_open=False))
    assert (over.state, over.released) == (ReviewState.DECIDED, True)
    services.close()
