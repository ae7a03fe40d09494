"""Calling back: each decision once, approvals revoked at once, nothing released (R14)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sureline.adapters.storage import recall_pages
from sureline.adapters.storage.statement import Statement
from sureline.application.review.desk import Said
from sureline.core.learning.calibrate import _representative
from sureline.core.values.notification import NoticeKind
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.recall import RecallWanted
from sureline.core.values.review import ReviewKind
from sureline.errors import Forbidden, InvalidInput, Refused
from sureline.testing import MOMENT
from tests.recalls.acting import (
    act,
    decide,
    incidents,
    is_derived,
    opened,
    recalled_items,
    say,
    told,
)

INVOICES = RecallWanted(slice_key="invoices")


async def carried_out(services: Any, wanted: RecallWanted = INVOICES) -> Any:
    recaller = services.recaller
    return await recaller.run(await recaller.start(wanted, reason="wrong currency", by="ada"))


async def test_what_is_covered_is_listed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what acted alone counts; used and unused approvals are told apart; pages go on."""
    monkeypatch.setattr(recall_pages, "PAGE", 2)
    services = await opened()
    for number in range(5):
        await act(services, f"d{number}")
    await act(services, "o1", slice_key="orders")
    await services.consumer.consume("default", "d0")
    preview = await services.recaller.preview(INVOICES)
    assert (preview.covered, preview.used, preview.unused, preview.recalled) == (5, 1, 4, 0)
    assert preview.by_slice == {"invoices": 5}
    seen, after = [], 0
    while True:
        page = await services.recaller.listed(INVOICES, after=after, limit=2)
        seen += [one.decision_id for one in page.covered]
        if page.next_mark is None:
            break
        after = page.next_mark
    assert seen == [f"d{number}" for number in range(5)]
    assert await recalled_items(services) == []


async def test_a_recall_revokes_and_requeues_each_once() -> None:
    """Its approvals are refused with the reason; the same recall again finds nothing to do."""
    services = await opened()
    for number in range(3):
        await act(services, f"d{number}")
    await services.consumer.consume("default", "d0")
    done = await carried_out(services)
    assert (done.recalled, done.queued, done.used) == (3, 3, 1)
    for name in ("d1", "d2"):
        with pytest.raises(Refused, match=f"called back by the recall {done.id}"):
            await services.consumer.consume("default", name)
    items = await recalled_items(services)
    assert sorted(one.decision_id for one in items) == ["d0", "d1", "d2"]
    assert {one.kind for one in items} == {ReviewKind.RECALL}
    again = await carried_out(services)
    assert (again.recalled, again.queued, again.used) == (0, 0, 0)
    assert len(await recalled_items(services)) == 3
    assert [one.change for one in await services.logbook.entries()].count("recall") == 2
    await is_derived(services)


async def test_approvals_are_revoked_before_their_batch_comes() -> None:
    """From the moment that a recall begins none that it covers can be used, others can."""
    services = await opened()
    await act(services, "d1")
    await act(services, "o1", slice_key="orders")
    begun = await services.recaller.start(INVOICES, reason="wrong currency", by="ada")
    with pytest.raises(Refused, match="called back"):
        await services.consumer.consume("default", "d1")
    await act(services, "d2")
    assert (await services.consumer.consume("default", "d2")).decision.approved
    assert (await services.consumer.consume("default", "o1")).decision.approved
    await services.recaller.run(begun)
    assert [one.decision_id for one in await recalled_items(services)] == ["d1"]


async def test_a_verdict_about_what_was_called_back_releases_nothing() -> None:
    """Right or wrong, the approval stays revoked; wrong is told and opens an incident."""
    services = await opened()
    await act(services, "d1")
    await act(services, "d2")
    await carried_out(services)
    by_decision = {one.decision_id: one for one in await recalled_items(services)}
    await decide(services, by_decision["d1"].id, Action.APPROVE)
    await decide(services, by_decision["d2"].id, Action.REJECT)
    for name in ("d1", "d2"):
        with pytest.raises(Refused):
            await services.consumer.consume("default", name)
    found = [o for name in ("d1", "d2") for o in await services.ledger.outcomes("default", name)]
    assert [(one.source, one.correct) for one in found] == [
        (OutcomeSource.INCIDENT, True),
        (OutcomeSource.INCIDENT, False),
    ]
    assert [one.decision_id for one in await told(services, NoticeKind.CORRECTED)] == ["d2"]
    assert [one.decision_id for one in await incidents(services)] == ["d2"]
    await is_derived(services)


async def test_labels_of_recalls_are_no_random_sample() -> None:
    """What was not drawn for the audit does not come among the labels that certify."""
    services = await opened()
    for number in range(40):
        await act(services, f"d{number}")
    await carried_out(services)
    for item in await recalled_items(services):
        await decide(services, item.id, Action.APPROVE)
    current = await services.currents.latest("invoices")
    rows = await services.ledger.label_counts("default", "invoices", current.measurement_hash)
    drawn = len(await services.ledger.due_audits("default", "invoices", 100))
    assert sum(one.count for one in rows) == 40
    assert sum(one.count for one in _representative(rows)) <= drawn < 40


async def test_nobody_decides_about_their_own_and_nobody_edits() -> None:
    """What was called back is judged by somebody else than who brought it, and as it acted."""
    services = await opened()
    await act(services, "d1", submitted_by="ada")
    await carried_out(services)
    (item,) = await recalled_items(services)
    with pytest.raises(Forbidden):
        await decide(services, item.id, Action.REJECT, by="ada")
    shown = await services.desk.show(item.id)
    with pytest.raises(InvalidInput, match="a recalled output has acted"):
        await services.desk.decide(
            item.id,
            Said(action=Action.EDIT, by="kim", digest=shown.review.digest, edited={"name": "x"}),
        )


async def test_an_erased_decision_is_revoked_and_not_queued() -> None:
    """Nobody can look at what was erased, but its approval is revoked all the same."""
    services = await opened()
    await act(services, "d1")
    await services.store.ledger.erase(
        "default", "d1", by="ada", reason="asked", at=services.clock.now()
    )
    done = await carried_out(services)
    assert (done.recalled, done.queued) == (1, 0)
    assert await recalled_items(services) == []


async def test_erasing_closes_what_was_called_back() -> None:
    """An item whose decision is erased later is superseded."""
    services = await opened()
    await act(services, "d1")
    await carried_out(services)
    await services.store.ledger.erase(
        "default", "d1", by="ada", reason="asked", at=services.clock.now()
    )
    assert await recalled_items(services) == []


@pytest.mark.parametrize(
    ("wanted", "covered"),
    [
        ({"slice_key": "orders"}, {"o1"}),
        ({"since": MOMENT + timedelta(hours=1)}, {"o1"}),
        ({"until": MOMENT + timedelta(hours=1)}, {"d1", "d2"}),
        ({"since": MOMENT, "until": MOMENT + timedelta(seconds=1)}, {"d1", "d2"}),
        ({"certificate": "none"}, set()),
        ({"model": "openai:gpt-9"}, {"d2"}),
        ({"model": "gpt-9"}, {"d2"}),
        ({"model": "gpt"}, set()),
        ({"policy": "0" * 64}, set()),
    ],
)
async def test_what_is_wanted_must_all_hold(wanted: dict[str, Any], covered: set[str]) -> None:
    """Slice, period, certificate, model (also one that the agent named) and policy restrict."""
    services = await opened()
    await act(services, "d1")
    await act(services, "d2", generator={"model": "openai:gpt-9"})
    services.clock.advance(timedelta(hours=2))  # type: ignore[attr-defined]
    await act(services, "o1", slice_key="orders")
    page = await services.recaller.listed(RecallWanted(**wanted), after=0, limit=10)
    assert {one.decision_id for one in page.covered} == covered


async def test_a_policy_is_named_by_the_beginning_of_its_hash() -> None:
    """Eight characters are enough, fewer are refused."""
    services = await opened()
    await act(services, "d1")
    current = await services.currents.latest("invoices")
    wanted = RecallWanted(policy=current.policy_hash[:8])
    assert (await services.recaller.preview(wanted)).covered == 1
    with pytest.raises(InvalidInput):
        RecallWanted(policy=current.policy_hash[:7])


@pytest.mark.parametrize(
    "nonsense",
    [{}, {"since": MOMENT, "until": MOMENT}, {"model": ""}],
    ids=["nothing", "an empty period", "an empty name"],
)
def test_a_recall_says_what_it_calls_back(nonsense: dict[str, Any]) -> None:
    """What could cover everything or nothing by a slip is refused."""
    with pytest.raises(InvalidInput):
        RecallWanted(**nonsense)


async def test_an_item_cannot_be_taken_beforehand() -> None:
    """Ids of recalled items are drawn: an agent cannot bring a decision under one of them."""
    services = await opened()
    await act(services, "d1")
    await carried_out(services)
    first = (await recalled_items(services))[0].id
    other = await opened()
    await act(other, "d1")
    await carried_out(other)
    assert (await recalled_items(other))[0].id != first


async def test_two_recalls_at_once_call_back_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the same are one; another that overlaps with it finds only what is left."""
    monkeypatch.setattr(recall_pages, "PAGE", 7)
    services = await opened(tmp_path / "store.db")
    for number in range(60):
        await act(services, f"d{number}")
    other = RecallWanted(until=services.clock.now() + timedelta(days=1))
    same = [services.recaller.start(INVOICES, reason="x", by="ada") for _ in range(4)]
    begun = [*await asyncio.gather(*same)]
    assert len({one.id for one in begun}) == 1
    begun.append(await services.recaller.start(other, reason="y", by="kim"))
    done = await asyncio.gather(*map(services.recaller.run, begun))
    assert len({replace(one) for one in done[:4]}) == 1
    assert done[0].recalled + done[4].recalled == 60
    items = await recalled_items(services)
    assert sorted(one.decision_id for one in items) == sorted(f"d{n}" for n in range(60))
    counts = [one.count for one in await services.desk.counts() if one.kind is ReviewKind.RECALL]
    assert sum(counts) == 60
    await is_derived(services)
    services.close()


async def test_a_use_and_a_recall_race_to_one_end() -> None:
    """Each approval was either used, and counts so, or was called back first, and is refused."""
    services = await opened()
    for number in range(30):
        await act(services, f"d{number}")

    async def use(name: str) -> bool:
        try:
            await services.consumer.consume("default", name)
        except Refused:
            return False
        return True

    uses = [use(f"d{number}") for number in range(30)]
    *used, done = await asyncio.gather(*uses[:15], carried_out(services), *uses[15:])
    results = [one for one in (*used, done) if isinstance(one, bool)]
    recall = next(one for one in (*used, done) if not isinstance(one, bool))
    assert recall.used == sum(results)


async def test_audits_stay_the_random_sample() -> None:
    """A recall closes no audit that was drawn: its auditor's label is still wanted."""
    services = await opened()
    for number in range(60):
        await act(services, f"d{number}")
    due = await services.ledger.due_audits("default", "invoices", 100)
    assert due
    await carried_out(services)
    for item in await recalled_items(services):
        await decide(services, item.id, Action.REJECT)
    assert await services.ledger.due_audits("default", "invoices", 100) == due
    await say(services, due[0].decision_id, Action.REJECT)
    await is_derived(services)


@pytest.mark.sqlite_file
async def test_a_damaged_decision_holds_up_no_other() -> None:
    """One whose record cannot be read is called back with its period, as of the highest stakes."""
    services = await opened()
    for name in ("d1", "d2"):
        await act(services, name)
    await services.store.database.write(
        lambda one: [
            one.run(Statement(text(statement)))
            for statement in (
                "DROP TRIGGER decisions_no_update",
                "UPDATE decisions SET body = x'7b' WHERE id = 'd1'",
            )
        ]
    )
    await say(services, "d1", Action.REJECT)
    done = await carried_out(services)
    assert (done.recalled, done.queued) == (2, 2)
    ranks = {one.decision_id: one.rank for one in await recalled_items(services)}
    assert ranks["d1"] > ranks["d2"]
    assert [one.decision_id for one in await incidents(services)] == ["d1"]
