"""The ledger's contract, in a file and in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sureline.adapters.storage.store import Store
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.stratum import LabelStratum
from sureline.errors import Conflict, InvalidInput, NotFound
from tests.adapters.storage.samples import (
    MEASUREMENT,
    MODEL,
    NOON,
    TASK,
    outcome,
    record,
    stratum,
    switch,
)

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def test_a_decision_comes_back_as_it_was_written(store: Store) -> None:
    """What is read later equals what was appended, to the microsecond and the bit."""
    written = record(score=0.1 + 0.2)
    answered = await store.ledger.append(written)
    read = await store.ledger.decision("default", "d1")
    assert answered.created
    assert read == replace(answered, created=False)
    assert read is not None
    assert (read.score, read.created_at, read.body) == (0.1 + 0.2, NOON, written.body)
    assert (read.answer, read.request) == (written.answer, written.request)


async def test_an_unknown_decision_is_none(store: Store) -> None:
    """Nothing is made up for an id that is not there."""
    assert await store.ledger.decision("default", "nobody") is None


async def test_the_same_id_returns_what_is_stored(store: Store) -> None:
    """A second append writes nothing and shows the first content (G30)."""
    await store.ledger.append(record(route="human_review"))
    again = await store.ledger.append(record(route="auto_approve", content_digest=b"x" * 32))
    assert not again.created
    assert (again.route, again.content_digest) == ("human_review", record().content_digest)
    assert await store.ledger.route_counts("default") == {"invoices": {"human_review": 1}}


async def test_one_of_many_concurrent_appends_of_an_id_creates_it(store: Store) -> None:
    """Of twenty appends of one id in one batch, exactly one is new."""
    answers = await asyncio.gather(*(store.ledger.append(record()) for _ in range(20)))
    assert sum(answer.created for answer in answers) == 1


async def test_workspaces_do_not_see_each_other(store: Store) -> None:
    """The same id lives once per workspace, and nothing of it shows in another (G33)."""
    await store.ledger.append(record(workspace="a", route="auto_reject"))
    assert (await store.ledger.append(record(workspace="b"))).created
    await store.ledger.set_switch(switch(workspace="a"))
    prior = await store.ledger.prior(
        workspace="c",
        slice_key="invoices",
        decision_id="d1",
        task_digest=TASK,
        retry_of="d1",
        since=LONG_AGO,
    )
    assert (prior.existing, prior.rejections, prior.chain) == (None, 0, 0)
    assert await store.ledger.switches_on("b", "invoices", None) == []
    assert await store.ledger.route_counts("b") == {"invoices": {"human_review": 1}}
    with pytest.raises(NotFound):
        await store.ledger.consume("c", "d1", NOON)
    with pytest.raises(NotFound):
        await store.ledger.record_outcome(outcome(workspace="c"))


async def test_prior_counts_failed_attempts_at_the_same_task(store: Store) -> None:
    """Only what failed at this task in this slice counts, and only since a moment."""
    for number, changes in enumerate(
        (
            {"failed": True, "created_at": NOON - timedelta(days=2)},
            {"failed": True},
            {"failed": True, "route": "abstain"},
            {"failed": False},
            {"failed": True, "slice_key": "other"},
            {"failed": True, "task_digest": b"u" * 32},
        )
    ):
        await store.ledger.append(record(number, **changes))
    for since, expected in ((LONG_AGO, 3), (NOON - timedelta(days=1), 2)):
        prior = await store.ledger.prior(
            workspace="default",
            slice_key="invoices",
            decision_id=None,
            task_digest=TASK,
            retry_of=None,
            since=since,
        )
        assert prior.rejections == expected


@pytest.mark.parametrize(
    ("retry_of", "chain"), [("d1", 3), ("unknown", 0), (None, 0)], ids=["known", "unknown", "none"]
)
async def test_prior_knows_the_attempt_of_what_is_retried(
    store: Store, retry_of: str | None, chain: int
) -> None:
    """`chain` is the retried decision's attempt, 0 if there is none."""
    await store.ledger.append(record(attempt=3))
    prior = await store.ledger.prior(
        workspace="default",
        slice_key="invoices",
        decision_id="d1",
        task_digest=TASK,
        retry_of=retry_of,
        since=LONG_AGO,
    )
    assert prior.chain == chain
    assert prior.existing is not None


async def _marks(store: Store) -> tuple[int, int]:
    prior = await store.ledger.prior(
        workspace="default",
        slice_key="s",
        decision_id=None,
        task_digest=TASK,
        retry_of=None,
        since=LONG_AGO,
    )
    return prior.verdict_mark, prior.activation_mark


async def test_the_verdict_mark_grows_with_verdicts_and_erasures_only(store: Store) -> None:
    """An index that remembers the mark knows when to look again."""
    await store.ledger.append(record())
    first = await _marks(store)
    await store.ledger.append(record(2))
    assert await _marks(store) == first
    await store.ledger.record_outcome(outcome())
    second = await _marks(store)
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    third = await _marks(store)
    assert first[0] < second[0] < third[0]
    assert first[1] == third[1]


async def test_the_newest_row_of_a_scope_holds(store: Store) -> None:
    """A switch can be turned off again; the others stay on."""
    for row in (
        switch("global"),
        switch("slice:invoices"),
        switch("batch:7"),
        switch("slice:other"),
        switch("global", on=False),
    ):
        await store.ledger.set_switch(row)
    on = await store.ledger.switches_on("default", "invoices", "7")
    assert sorted(row.scope for row in on) == ["batch:7", "slice:invoices"]
    assert [row.scope for row in await store.ledger.switches_on("default", "invoices", None)] == [
        "slice:invoices"
    ]
    assert {row.scope: row.on for row in await store.ledger.switches("default")} == {
        "global": False,
        "slice:invoices": True,
        "slice:other": True,
        "batch:7": True,
    }


async def test_an_approval_is_used_once(store: Store) -> None:
    """Of many concurrent uses exactly one succeeds."""
    await store.ledger.append(record(route="auto_approve"))
    uses = await asyncio.gather(*(store.ledger.consume("default", "d1", NOON) for _ in range(10)))
    assert sum(uses) == 1
    assert not await store.ledger.consume("default", "d1", NOON)


async def test_outcomes_come_back_oldest_first(store: Store) -> None:
    """Every field of an outcome survives, the comment too."""
    await store.ledger.append(record())
    first = outcome(comment="Kommentar ✓", edited_fields=("amount", "größe"), anchored=False)
    second = outcome("o2", action=Action.SKIP, correct=None)
    assert await store.ledger.record_outcome(first)
    assert await store.ledger.record_outcome(second)
    assert await store.ledger.outcomes("default", "d1") == [first, second]


async def test_the_same_outcome_again_writes_nothing(store: Store) -> None:
    """A repeated delivery is recognised even if its time differs."""
    await store.ledger.append(record())
    await store.ledger.record_outcome(outcome(comment="x"))
    later = outcome(comment="x", recorded_at=NOON + timedelta(days=1))
    assert not await store.ledger.record_outcome(later)
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert not await store.ledger.record_outcome(later)
    assert len(await store.ledger.outcomes("default", "d1")) == 1


async def test_the_same_outcome_id_with_other_content_is_a_conflict(store: Store) -> None:
    """An id names one content for ever."""
    await store.ledger.append(record())
    await store.ledger.record_outcome(outcome())
    with pytest.raises(Conflict):
        await store.ledger.record_outcome(outcome(action=Action.REJECT, correct=False))


async def test_an_outcome_needs_its_decision(store: Store) -> None:
    """A label about nothing is refused, and its neighbours in the batch are written."""
    await store.ledger.append(record())
    answers = await asyncio.gather(
        store.ledger.record_outcome(outcome("o1")),
        store.ledger.record_outcome(outcome("o2", "nobody")),
        store.ledger.append(record(2)),
        return_exceptions=True,
    )
    assert answers[0] is True
    assert isinstance(answers[1], NotFound)
    assert await store.ledger.decision("default", "d2") is not None


R, A, N, M = (
    OutcomeSource.REVIEW,
    OutcomeSource.AUDIT,
    OutcomeSource.INCIDENT,
    OutcomeSource.IMPORT,
)


@pytest.mark.parametrize(
    ("labels", "effective"),
    [
        ([(R, True)], True),
        ([(R, True), (R, False)], False),
        ([(R, True), (N, False)], False),
        ([(N, False), (R, True)], False),
        ([(A, False), (R, True)], False),
        ([(R, True), (A, False), (N, True)], True),
        ([(M, True), (R, False)], False),
        ([(R, True), (R, None)], True),
        ([(R, None)], None),
    ],
    ids=[
        "one review",
        "later review",
        "incident overrides",
        "review after incident",
        "review after audit",
        "incident last",
        "review after import",
        "skip changes nothing",
        "only a skip",
    ],
)
async def test_the_strongest_latest_label_is_counted(
    store: Store, labels: list[tuple[OutcomeSource, bool | None]], effective: bool | None
) -> None:
    """A decision counts once, under its effective label, and so it shows in its history."""
    await store.ledger.append(record())
    for number, (source, correct) in enumerate(labels):
        await store.ledger.record_outcome(outcome(f"o{number}", source=source, correct=correct))
    counts = await store.ledger.label_counts("default", "invoices", MEASUREMENT)
    cases = await store.ledger.cases_since(0, MODEL)
    if effective is None:
        assert (counts, cases) == ([], [])
    else:
        assert [(row.score_bin, row.correct, row.count) for row in counts] == [(5878, effective, 1)]
        assert [case.approved for case in cases] == [effective]


async def test_labels_are_counted_by_bin_and_correctness(store: Store) -> None:
    """Counts are kept apart by stratum; an unmeasured decision is in no bin."""
    first, audited = stratum(), stratum(propensity=0.05)
    table = [
        (5000, True, first),
        (5000, True, audited),
        (5000, True, first),
        (5000, False, first),
        (6000, True, first),
        (None, True, first),
    ]
    for number, (score_bin, correct, of) in enumerate(table):
        await store.ledger.append(record(number, score_bin=score_bin, stratum=of))
        await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}", correct=correct))
    reviewed, thinned = (
        LabelStratum(source=R, anchored=True, decision=of) for of in (first, audited)
    )
    assert await store.ledger.label_counts("default", "invoices", MEASUREMENT) == [
        LabelCount(score_bin=5000, stratum=thinned, correct=True, count=1),
        LabelCount(score_bin=5000, stratum=reviewed, correct=False, count=1),
        LabelCount(score_bin=5000, stratum=reviewed, correct=True, count=2),
        LabelCount(score_bin=6000, stratum=reviewed, correct=True, count=1),
    ]
    later = week_number(day_number(NOON)) + 1
    assert not await store.ledger.label_counts("default", "invoices", MEASUREMENT, since_week=later)
    assert await store.ledger.label_counts("default", "invoices", "other") == []


async def test_cases_come_once_and_in_order(store: Store) -> None:
    """The cursor of the last case seen leads to exactly what came after it."""
    for number in range(4):
        await store.ledger.append(record(number, vector=None if number == 3 else bytes(64)))
        await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}"))
    first = await store.ledger.cases_since(0, MODEL)
    assert [case.decision_id for case in first] == ["d0", "d1", "d2"]
    assert [case.cursor for case in first] == sorted(case.cursor for case in first)
    assert await store.ledger.cases_since(first[-1].cursor, MODEL) == []
    (where,) = await store.ledger.cases_since(0, "another model")  # how far it was read, no vector
    assert (where.cursor, where.model_id, where.vector) == (first[-1].cursor, MODEL, b"")
    await store.ledger.record_outcome(outcome("o9", "d0", correct=False))
    (changed,) = await store.ledger.cases_since(first[-1].cursor, MODEL)
    assert (changed.decision_id, changed.approved) == ("d0", False)


async def test_an_erased_case_comes_as_a_deletion(store: Store) -> None:
    """The vector is gone from the past, and whoever holds it is told to drop it."""
    for number in (1, 2):
        await store.ledger.append(record(number))
        await store.ledger.record_outcome(outcome(f"o{number}", f"d{number}"))
    seen = (await store.ledger.cases_since(0, MODEL))[-1].cursor
    assert await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    (deletion,) = await store.ledger.cases_since(seen, MODEL)
    assert (deletion.decision_id, deletion.approved, deletion.vector) == ("d1", None, b"")
    assert [case.decision_id for case in await store.ledger.cases_since(0, MODEL)] == ["d2", "d1"]


async def test_erasing_takes_the_payload_and_leaves_the_figures(store: Store) -> None:
    """After an erasure the decision still says what was decided, but quotes nothing."""
    await store.ledger.append(record())
    await store.ledger.record_outcome(outcome(comment="about Acme"))
    assert await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert not await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    read = await store.ledger.decision("default", "d1")
    assert read is not None
    assert (read.answer, read.request, read.body) == (None, None, record().body)
    assert [o.comment for o in await store.ledger.outcomes("default", "d1")] == [None]
    assert len(await store.ledger.label_counts("default", "invoices", MEASUREMENT)) == 1
    with pytest.raises(NotFound):
        await store.ledger.erase("default", "nobody", by="kim", reason="asked", at=NOON)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"created_at": datetime(2026, 1, 1)}, InvalidInput),  # noqa: DTZ001 - the point
        ({"score": float("nan")}, InvalidInput),
        ({"vector": b"1234", "model_id": None}, Exception),
        ({"slice_key": None}, Exception),
    ],
    ids=["naive time", "NaN", "vector without model", "no slice"],
)
async def test_one_bad_row_does_not_lose_its_batch(
    store: Store, changes: dict[str, object], error: type[Exception]
) -> None:
    """The bad record's caller gets the error, all others are written, the chain verifies."""
    bad = record("bad", **changes)
    answers = await asyncio.gather(
        *(store.ledger.append(record(number)) for number in range(5)),
        store.ledger.append(bad),
        *(store.ledger.append(record(number)) for number in range(5, 10)),
        return_exceptions=True,
    )
    assert isinstance(answers[5], error)
    assert all(answer.created for place, answer in enumerate(answers) if place != 5)
    assert (await store.ledger.verify()).rows == 10
    assert (await store.ledger.verify()).ok


async def test_moments_keep_their_instant_in_any_zone(store: Store) -> None:
    """A time given in Tokyo is the same instant in UTC."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    await store.ledger.append(record(created_at=tokyo))
    read = await store.ledger.decision("default", "d1")
    assert read is not None
    assert read.created_at == NOON
    assert read.created_at.tzinfo is UTC
