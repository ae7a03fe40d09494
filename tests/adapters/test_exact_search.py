"""Exact search of past cases: right neighbours, scoping, window, deletion, duplicates, batches."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.adapters.search import exact
from sureline.adapters.search.check import check
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.application.ports.cases import PastCase
from sureline.errors import InvalidInput, StoreCorrupt

MODEL = "model-a"
D = 32


class FakeLedger:
    """Keeps PastCase rows in order and gives them in pages."""

    def __init__(self, page=1000):
        self.rows = []
        self.page = page
        self.reads = 0

    def add(self, decision_id, vector, approved=True, *, workspace="w", slice_key="s", model=MODEL):
        data = vector if isinstance(vector, bytes) else vector.astype("<f4").tobytes()
        self.rows.append(
            PastCase(
                cursor=len(self.rows) + 1,
                workspace=workspace,
                slice_key=slice_key,
                decision_id=decision_id,
                model_id=model,
                vector=data,
                approved=approved,
            )
        )

    async def cases_since(self, cursor, model_id):
        self.reads += 1
        await asyncio.sleep(0)
        found = [row for row in self.rows if row.cursor > cursor and row.model_id == model_id]
        return found[: self.page]


def units(count, dimension=D, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def close_to(vector, amount, seed=1):
    moved = vector + amount * units(1, vector.size, seed)[0]
    return (moved / np.linalg.norm(moved)).astype(np.float32)


@pytest.fixture
def ledger():
    return FakeLedger()


@pytest.fixture
def index(ledger):
    index = ExactCaseIndex(ledger, MODEL, dimension=D)
    yield index
    index.close()


async def ids(index, vector, *, workspace="w", slice_key="s", k=1, window=1000):
    found = await index.search(
        workspace=workspace, slice_key=slice_key, vector=vector, k=k, window=window
    )
    return [near.decision_id for near in found.neighbours]


def brute(vectors, query, k):
    order = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)), kind="stable")
    return [str(row) for row in order[:k]]


@pytest.mark.parametrize("count", [10, 63, 64, 65, 1000, 2000, 2001, 4096, 6000])
async def test_the_nearest_are_those_of_brute_force(count):
    """Inline or in the search thread, the top 10 is what sorting all cosines gives."""
    ledger, vectors = FakeLedger(), units(count)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    index = ExactCaseIndex(ledger, MODEL, dimension=D)
    await index.refresh()
    queries = units(70, seed=7)

    together = await asyncio.gather(*(ids(index, q, k=10, window=count) for q in queries))
    alone = [await ids(index, query, k=10, window=count) for query in queries[:5]]

    assert together == [brute(vectors, query, 10) for query in queries]
    assert alone == together[:5]
    index.close()


async def test_a_batch_over_many_stretches_sees_live_cases_only():
    """Waiting queries over a large window find what brute force finds, without deleted cases."""
    ledger, vectors = FakeLedger(page=50_000), units(20_000)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    queries = units(70, seed=7)
    gone = {row for query in queries for row in brute(vectors, query, 3)}
    for row in sorted(gone):
        ledger.add(row, vectors[int(row)], approved=None)
    index = ExactCaseIndex(ledger, MODEL, dimension=D)
    await index.refresh()

    together = await asyncio.gather(*(ids(index, q, k=10, window=20_000) for q in queries))
    alone = [await ids(index, query, k=10, window=20_000) for query in queries[:5]]

    live = np.array([row for row in range(20_000) if str(row) not in gone])
    expected = [[str(live[int(row)]) for row in brute(vectors[live], q, 10)] for q in queries]
    assert together == expected
    assert alone == expected[:5]
    index.close()


async def test_waiting_queries_in_a_slice_of_duplicates_agree_with_single_ones():
    """Where most texts are the same, a batch answers like single queries."""
    ledger, texts = FakeLedger(page=50_000), units(30)
    for row in range(9000):
        ledger.add(str(row), texts[row % 30 if row % 100 == 0 else 0], approved=row % 7 > 0)
    index = ExactCaseIndex(ledger, MODEL, dimension=D)
    await index.refresh()

    def ask(query):
        return index.search(workspace="w", slice_key="s", vector=query, k=3, window=9000)

    together = await asyncio.gather(*map(ask, texts))
    alone = [await ask(query) for query in texts]

    assert [[n.decision_id for n in found.neighbours] for found in together] == [
        [n.decision_id for n in found.neighbours] for found in alone
    ]
    assert together[0].neighbours[0].decision_id == "8999"
    index.close()


async def test_similarities_and_spread_are_those_of_all_cases(ledger, index):
    """Similarities come best first, with the count and spread of all cases."""
    vectors, query = units(500), units(1, seed=3)[0]
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector, approved=row % 2 == 0)
    await index.refresh()

    found = await index.search(workspace="w", slice_key="s", vector=query, k=5, window=1000)

    cosines = vectors @ query
    assert found.cases == 500
    assert found.spread == pytest.approx(float(cosines.std()), rel=1e-3)
    assert [n.similarity for n in found.neighbours] == pytest.approx(
        sorted(map(float, cosines), reverse=True)[:5], abs=1e-6
    )
    assert all(n.approved == (int(n.decision_id) % 2 == 0) for n in found.neighbours)


async def test_fewer_than_k_cases_are_only_counted(ledger, index):
    """With fewer than k cases there is nothing to compare."""
    ledger.add("a", units(1)[0])
    await index.refresh()

    found = await index.search(workspace="w", slice_key="s", vector=units(1)[0], k=2, window=9)

    assert (found.neighbours, found.cases, found.spread) == ((), 1, None)


@pytest.mark.parametrize(
    ("workspace", "slice_key"), [("other", "s"), ("w", "other"), ("", "s"), ("w", "")]
)
async def test_h19_h23_nobody_sees_another_scope(ledger, index, workspace, slice_key):
    """H19, H23: a workspace and slice see only their own cases."""
    vector = units(1)[0]
    ledger.add("mine", vector)
    await index.refresh()

    assert await ids(index, vector) == ["mine"]
    found = await index.search(
        workspace=workspace, slice_key=slice_key, vector=vector, k=1, window=9
    )
    assert (found.neighbours, found.cases) == ((), 0)


@pytest.mark.parametrize("workspace", [None, ""])
async def test_h17_a_case_without_a_workspace_is_left_out(ledger, index, workspace):
    """H17: a row without a workspace belongs to nobody, and is counted."""
    ledger.add("nobody's", units(1)[0], workspace=workspace)
    await index.refresh()

    assert index.sizes == {}
    assert index.refused["no_scope"] == 1


def test_a_search_always_names_its_workspace_and_slice():
    """H17, H19: no read of the index has a default scope."""
    parameters = inspect.signature(ExactCaseIndex.search).parameters

    assert all(
        parameters[name].default is inspect.Parameter.empty for name in ("workspace", "slice_key")
    )


async def test_h04_vectors_of_another_model_are_refused():
    """H04: another model's vectors stay out even though their dimension agrees."""
    vector = units(1)[0]
    row = PastCase(
        cursor=1, workspace="w", slice_key="s", decision_id="b", model_id="model-b",
        vector=vector.tobytes(), approved=True,
    )  # fmt: skip

    class Careless(FakeLedger):
        async def cases_since(self, cursor, model_id):
            return [row] if cursor < 1 else []

    index = ExactCaseIndex(Careless(), MODEL, dimension=D)
    await index.refresh()

    assert index.sizes == {}
    assert index.refused["other_model"] == 1
    index.close()


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(np.full(D, np.nan, dtype=np.float32), id="nan"),
        pytest.param(np.array([np.inf] + [0.1] * (D - 1), dtype=np.float32), id="H20-infinity"),
        pytest.param(np.zeros(D, dtype=np.float32), id="H06-zeros"),
        pytest.param(units(1, D + 1)[0], id="other-dimension"),
        pytest.param(b"\x00\x01\x02", id="torn"),
    ],
)
async def test_h20_a_bad_vector_is_refused_and_the_slice_says_so(ledger, index, stored):
    """H20, H02: a verdict that cannot be taken in is counted and stops the slice's history."""
    good = units(12)
    for row, vector in enumerate(good):
        ledger.add(str(row), vector)
    ledger.add("bad", stored, approved=False)
    await index.refresh()

    assert index.refused["bad_vector"] == 1
    with pytest.raises(StoreCorrupt, match="1 verdicts"):
        await ids(index, good[0])

    ledger.add("bad", good[1], approved=None)
    await index.refresh()
    assert await ids(index, good[0]) == ["0"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(np.zeros(D, dtype=np.float32), id="H06-zeros"),
        pytest.param(np.full(D, np.nan, dtype=np.float32), id="nan"),
        pytest.param(units(1)[0].astype(np.float64), id="float64"),
        pytest.param(units(1, D + 1)[0], id="other-dimension"),
    ],
)
async def test_a_query_that_cannot_be_compared_is_refused(index, query):
    """A degenerate or upcasting query is an error of its caller, even on an empty index."""
    with pytest.raises(InvalidInput, match="vector"):
        await ids(index, query)


@pytest.mark.parametrize(("k", "window"), [(0, 10), (1, 0)])
async def test_k_and_window_are_positive(index, k, window):
    """Nothing to look for, or nowhere, is an error."""
    with pytest.raises(InvalidInput, match="at least 1"):
        await ids(index, units(1)[0], k=k, window=window)


async def test_only_the_latest_of_the_window_count(ledger, index):
    """A case that is older than the window is not found."""
    vectors = units(100)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()

    assert await ids(index, vectors[89], window=11) == ["89"]
    assert "88" not in await ids(index, vectors[88], k=11, window=11)


async def test_the_window_counts_live_cases(ledger, index):
    """Deleted and replaced cases take no place in the window."""
    vectors = units(30)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    for row in (20, 25, 29):
        ledger.add(str(row), vectors[row], approved=None)
    ledger.add("21", vectors[21], approved=False)
    await index.refresh()

    found = await ids(index, vectors[0], k=10, window=10)

    assert sorted(map(int, found)) == [17, 18, 19, 21, 22, 23, 24, 26, 27, 28]


async def test_the_oldest_go_when_the_index_is_full(ledger):
    """An index keeps the latest `most` cases whatever window is asked for."""
    index, vectors = ExactCaseIndex(ledger, MODEL, dimension=D, most=100), units(1000)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
        if row % 150 == 0:
            await index.refresh()
    await index.refresh()

    assert index.sizes == {("w", "s"): 100}
    found = await index.search(workspace="w", slice_key="s", vector=vectors[0], k=1, window=5000)
    assert found.cases == 100
    assert await ids(index, vectors[900], window=5000) == ["900"]
    assert await ids(index, vectors[899], window=5000) != ["899"]
    index.close()


async def test_a_deleted_case_is_gone_with_its_vector(ledger, index):
    """A deletion removes the case at once and wipes its vector from memory."""
    vectors = units(5)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()
    ledger.add("3", vectors[3], approved=None)
    ledger.add("never seen", vectors[3], approved=None)
    await index.refresh()

    assert "3" not in await ids(index, vectors[3], k=4)
    assert vectors[3].tobytes() not in index._banks["w", "s"]._vectors.tobytes()


async def test_a_later_verdict_replaces_an_earlier_one(ledger, index):
    """An audit that contradicts a review counts, once."""
    vectors = units(3)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()
    ledger.add("1", vectors[1], approved=False)
    await index.refresh()

    found = await index.search(workspace="w", slice_key="s", vector=vectors[1], k=3, window=9)

    assert found.cases == 3
    assert (found.neighbours[0].decision_id, found.neighbours[0].approved) == ("1", False)


@pytest.mark.parametrize("copies", [2, 25, 500, 3000])
async def test_near_duplicates_count_once(ledger, index, copies):
    """However often a text was submitted, it is one neighbour, with its newest verdict."""
    text, others = units(1)[0], units(20, seed=5)
    for row in range(copies):
        ledger.add(f"copy{row}", close_to(text, 1e-4, seed=row), approved=row != copies - 1)
    for row, vector in enumerate(others):
        ledger.add(f"other{row}", vector)
    await index.refresh()

    found = await index.search(workspace="w", slice_key="s", vector=text, k=10, window=10_000)

    assert found.cases == copies + 20
    assert len(found.neighbours) == 10
    assert (found.neighbours[0].decision_id, found.neighbours[0].approved) == (
        f"copy{copies - 1}",
        False,
    )
    assert sum(near.decision_id.startswith("copy") for near in found.neighbours) == 1


async def test_a_constant_prompt_is_one_case(ledger, index):
    """Where every text is the same there is one neighbour and no spread."""
    text = units(1)[0]
    for row in range(3000):
        ledger.add(str(row), text)
    await index.refresh()

    found = await index.search(workspace="w", slice_key="s", vector=text, k=10, window=10_000)

    assert [near.decision_id for near in found.neighbours] == ["2999"]
    assert found.cases == 3000
    assert found.spread == pytest.approx(0, abs=1e-6)


async def test_refresh_takes_pages_and_shares_with_another_refresh():
    """Paged reads and refreshes at the same time take in every row once."""
    ledger, vectors = FakeLedger(page=7), units(40)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    index = ExactCaseIndex(ledger, MODEL, dimension=D)

    await asyncio.wait_for(asyncio.gather(*(index.refresh() for _ in range(5))), timeout=10)

    assert index.sizes == {("w", "s"): 40}
    assert await ids(index, vectors[39]) == ["39"]
    index.close()


async def test_a_rebuilt_index_answers_like_the_one_that_grew(ledger, index):
    """H16: the index is rebuilt from the ledger at start, and then answers the same."""
    random, vectors = np.random.default_rng(4), units(300)
    for step in range(600):
        row = int(random.integers(300))
        ledger.add(str(row), vectors[row], approved=[True, False, None][int(random.integers(3))])
        if step % 50 == 0:
            await index.refresh()
    await index.refresh()
    rebuilt = ExactCaseIndex(ledger, MODEL, dimension=D)
    await rebuilt.refresh()

    assert rebuilt.sizes == index.sizes
    for query in units(20, seed=9):
        arguments = {"workspace": "w", "slice_key": "s", "vector": query, "k": 10, "window": 60}
        assert await rebuilt.search(**arguments) == await index.search(**arguments)
    rebuilt.close()


async def test_searching_does_not_block_the_loop(ledger, index):
    """While a large window is searched the event loop goes on."""
    for row, vector in enumerate(units(3000)):
        ledger.add(str(row), vector)
    await index.refresh()
    search = asyncio.create_task(ids(index, units(1)[0], window=3000))
    await asyncio.sleep(0)

    assert not search.done()
    assert await search == ["0"]


async def test_waiting_queries_are_taken_together(ledger, index, monkeypatch):
    """All queries of one pass of the loop make one product."""
    sizes, real = [], exact.compare_all
    monkeypatch.setattr(
        exact, "compare_all", lambda w, q, n, s: (sizes.append(len(q)), real(w, q, n, s))[1]
    )
    vectors = units(3000)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()

    found = await asyncio.gather(*(ids(index, vectors[row], window=3000) for row in range(100)))

    assert found == [[str(row)] for row in range(100)]
    assert sizes == [64, 36]


async def test_a_caller_that_gives_up_takes_nobody_along(ledger, index):
    """Cancelling one waiting search leaves the others their answers."""
    vectors = units(3000)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()
    searches = [asyncio.create_task(ids(index, vectors[row], window=3000)) for row in range(4)]
    await asyncio.sleep(0)
    searches[1].cancel()

    found = await asyncio.gather(*searches, return_exceptions=True)

    assert isinstance(found[1], asyncio.CancelledError)
    assert [found[0], found[2], found[3]] == [["0"], ["2"], ["3"]]
    assert await ids(index, vectors[9], window=3000) == ["9"]


async def test_a_closed_index_says_so(ledger, index):
    """After closing, a search in the thread raises instead of waiting for ever."""
    for row, vector in enumerate(units(3000)):
        ledger.add(str(row), vector)
    await index.refresh()
    index.close()

    with pytest.raises(RuntimeError):
        await asyncio.wait_for(ids(index, units(1)[0], window=3000), timeout=5)


def test_an_index_serves_several_loops(ledger, index):
    """Each event loop has its own queue."""
    vectors = units(3000)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)

    async def once(row):
        await index.refresh()
        return await ids(index, vectors[row], window=3000)

    assert [asyncio.run(once(row)) for row in (1, 2)] == [["1"], ["2"]]


async def test_h15_the_self_check_agrees_with_the_ledger(ledger, index):
    """H15: counts equal the ledger's and queries agree with brute force."""
    for row, vector in enumerate(units(300)):
        ledger.add(str(row), vector, slice_key="s" if row % 3 else "t")
    ledger.add("5", units(1)[0], approved=None)
    await index.refresh()

    report = await check(index, ledger)

    assert (report.cases, report.expected, report.disagreements) == (299, 299, 0)
    assert report.queries > 0
    assert report.ok


async def test_h15_the_self_check_finds_what_is_missing(ledger, index):
    """H15: an index that lost a case, or holds a wrong vector, does not pass."""
    vectors = units(50)
    for row, vector in enumerate(vectors):
        ledger.add(str(row), vector)
    await index.refresh()
    index._banks["w", "s"].remove("7")

    assert not (await check(index, ledger)).ok

    ledger.rows[3] = replace(ledger.rows[3], vector=vectors[4].tobytes())
    rebuilt = ExactCaseIndex(ledger, MODEL, dimension=D)
    await rebuilt.refresh()
    rebuilt._banks["w", "s"]._vectors[10:30] = vectors[30:50]
    assert (await check(rebuilt, ledger)).disagreements > 0
    rebuilt.close()


step = st.tuples(st.integers(0, 7), st.sampled_from([True, False, None]))


@settings(max_examples=60, deadline=None)
@given(st.lists(step, max_size=60), st.integers(1, 8), st.integers(1, 3))
def test_any_history_equals_its_replay(steps, window, most_factor):
    """Adding, replacing and deleting in any order leaves the latest live verdicts."""
    vectors, ledger, expected = units(8), FakeLedger(page=5), {}
    for row, approved in steps:
        ledger.add(str(row), vectors[row], approved)
        expected.pop(str(row), None)
        if approved is not None:
            expected[str(row)] = approved
    index = ExactCaseIndex(ledger, MODEL, dimension=D, most=8 * most_factor)
    latest = dict(list(expected.items())[-window:])

    async def search():
        await index.refresh()
        return await index.search(
            workspace="w", slice_key="s", vector=vectors[0], k=max(len(latest), 1), window=window
        )

    found = asyncio.run(search())
    index.close()

    assert found.cases == len(latest)
    assert {near.decision_id: near.approved for near in found.neighbours} == latest
