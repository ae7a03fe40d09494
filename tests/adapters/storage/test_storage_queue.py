"""The queue under stress: retries, answers from elsewhere, refusals, damage and long absence."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.label import GivenAnswer
from sureline.application.ports.reviews import Wanted
from sureline.application.review import desk as desk_module
from sureline.application.review.desk import Said
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewState
from sureline.errors import Conflict, InvalidInput, StoreCorrupt
from sureline.testing import MOMENT, FixedClock

POLICY = f"""\
version: 1
slices:
  replies: {{output: {{structured: false}}, weights: {{verification: 1}}, review: {{approvals: 1}}}}
  letters: {{output: {{structured: false}}, weights: {{verification: 1}}, four_eyes: true}}
  notes:
    mode: route
    audit_rate: 1.0
    weights: {{verification: 1}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
"""


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def services(tmp_path: Path, clock: FixedClock) -> Iterator[Services]:
    with_clock = open_services(f"sqlite:///{tmp_path / 's.db'}", plugins=Plugins(clock=clock))
    yield with_clock
    with_clock.close()


async def submit(services: Services, name: str, **fields: Any) -> Review:
    """Bring an output before the gate; return the item that it opens."""
    await services.policies.introduce(POLICY)
    key = fields.pop("submitted_by", None)
    given = {"slice_key": "replies", "task": "answer", "output": f"Yes, {name}.", **fields}
    await services.decider.decide(
        read_proposal({"id": name, **given}, workspace="default", submitted_by=key)
    )
    return await item(services, name)


async def item(services: Services, name: str) -> Review:
    found = await services.store.reviews.get("default", name)
    assert found is not None
    return found


async def say(
    services: Services, name: str, action: Action, by: str = "ada", edited: Any = None
) -> Review:
    shown = await services.desk.show(name)
    said = Said(action=action, by=by, digest=shown.review.digest, edited=edited)
    return await services.desk.decide(name, said)


@pytest.mark.parametrize(
    ("key", "state"), [("k1", ReviewState.SUPERSEDED), ("k2", ReviewState.PENDING)]
)
async def test_another_attempt_takes_the_place_of_ones_own(
    services: Services, key: str, state: ReviewState
) -> None:
    """Nobody closes another key's item by naming it; it waits on, and so does the new one."""
    await submit(services, "first", submitted_by="k1")
    await submit(services, "second", submitted_by=key, retry_of="first", output="Better.")
    assert (await item(services, "first")).state is state
    assert (await item(services, "second")).state is ReviewState.PENDING


async def test_no_retry_closes_an_audit(services: Services) -> None:
    """An agent cannot get rid of the audit of what has acted."""
    audit = await submit(services, "acted", slice_key="notes", output={"a": 1}, submitted_by="k1")
    assert audit.kind is ReviewKind.AUDIT
    await submit(
        services, "again", slice_key="notes", output={"a": 2}, submitted_by="k1", retry_of="acted"
    )
    assert (await item(services, "acted")).state is ReviewState.PENDING


async def test_an_item_that_names_itself_stays(services: Services) -> None:
    """A proposal that is a retry of its own id is an item like any other."""
    assert (await submit(services, "self", retry_of="self")).state is ReviewState.PENDING


async def test_an_audit_is_answered_in_one_place(services: Services) -> None:
    """Answered by the audit's command the item is closed; decided in the queue it is not due."""
    for name in ("one", "two"):
        await submit(services, name, slice_key="notes", output={"name": name})
    answer = GivenAnswer(
        decision_id="one", action=Action.REJECT, by="ada", source=OutcomeSource.AUDIT
    )
    await services.labeller.record("default", answer)
    assert (await item(services, "one")).state is ReviewState.DECIDED
    await say(services, "two", Action.APPROVE)
    services.clock.advance(timedelta(seconds=10))  # type: ignore[attr-defined]
    await services.desk.settle()
    assert await services.ledger.due_audits("default", None, 10) == []
    (outcome,) = await services.ledger.outcomes("default", "two")
    assert (outcome.source, outcome.correct) == (OutcomeSource.AUDIT, True)


async def test_an_objection_is_not_overtaken_by_an_earlier_yes(
    services: Services, clock: FixedClock
) -> None:
    """A no that comes while an approval can still be taken back ends it: nothing is released."""
    await submit(services, "a")
    await say(services, "a", Action.APPROVE)
    objection = GivenAnswer(decision_id="a", action=Action.REJECT, by="kim")
    await services.labeller.record("default", objection)
    clock.advance(timedelta(days=3))
    await services.desk.settle()
    assert [one.action for one in await services.ledger.outcomes("default", "a")] == [Action.REJECT]
    found = await services.waiter.wait("default", "a", 0)
    assert not found.approved


async def test_what_time_has_done_stays_done_when_a_step_is_refused(
    services: Services, clock: FixedClock
) -> None:
    """Who decides too late is refused, and the item is expired, with its outcome."""
    await submit(services, "a")
    clock.advance(timedelta(days=1))
    await services.desk.settle()
    clock.advance(timedelta(days=1))
    with pytest.raises(Conflict, match="expired"):
        await say(services, "a", Action.APPROVE)
    assert (await item(services, "a")).state is ReviewState.EXPIRED
    assert [one.action for one in await services.ledger.outcomes("default", "a")] == [
        Action.EXPIRED
    ]


async def test_everything_that_is_due_is_settled(
    services: Services, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a long absence all that is due is settled, and claiming meets no expired item."""
    monkeypatch.setattr(desk_module, "SETTLED_AT_ONCE", 3)
    for number in range(8):
        await submit(services, f"a{number}")
    clock.advance(timedelta(days=1))
    assert await services.desk.settle() == 8
    clock.advance(timedelta(days=1))
    fresh = await submit(services, "fresh")
    taken = await services.desk.next("ada", Wanted())
    assert taken is not None
    assert taken.id == fresh.id
    assert await services.desk.settle() == 0
    counts = {one.state: one.count for one in await services.desk.counts()}
    assert counts == {ReviewState.EXPIRED: 8, ReviewState.CLAIMED: 1}


@pytest.mark.parametrize(
    "damage",
    ["rules = 'x'", "deadline = '2026-12-24'", "state = 'approved'", "given = x'7b'"],
)
async def test_a_damaged_item_is_never_released_and_holds_up_no_other(
    services: Services, clock: FixedClock, tmp_path: Path, damage: str
) -> None:
    """What cannot be read is refused with words; the queue goes on without it."""
    await submit(services, "bad")
    await submit(services, "good")
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute(f"UPDATE reviews SET due_at = 0, {damage} WHERE id = 'bad'")
    connection.close()
    for work in (
        services.desk.show("bad"),
        services.consumer.consume("default", "bad"),
        services.waiter.wait("default", "bad", 0),
    ):
        with pytest.raises(StoreCorrupt, match="'bad' cannot be read"):
            await work
    taken = await services.desk.next("ada", Wanted())
    assert taken is not None
    assert taken.id == "good"
    assert [one.id for one in await services.desk.page(Wanted())] == ["good"]
    clock.advance(timedelta(days=1))
    assert await services.desk.settle() == 1


async def test_an_edit_that_somebody_approves_is_released_as_an_edit(
    services: Services, clock: FixedClock
) -> None:
    """With four eyes the editor's version stands, under both names; labels call it an edit."""
    await submit(services, "a", slice_key="letters")
    await say(services, "a", Action.APPROVE, "lee")
    await say(services, "a", Action.EDIT, "kim", "No.")
    await say(services, "a", Action.APPROVE, "ada")
    clock.advance(timedelta(seconds=10))
    found = await services.waiter.wait("default", "a", 0)
    assert (found.approved, found.output) == (True, "No.")
    outcomes = await services.ledger.outcomes("default", "a")
    assert [(one.by, one.action, one.correct) for one in outcomes] == [
        ("lee", Action.APPROVE, True),
        ("ada", Action.APPROVE, None),
        ("kim", Action.EDIT, False),
    ]
    used = await services.consumer.consume("default", "a")
    assert used.decision.output == "No."


async def test_an_edit_of_an_edit_is_measured_against_the_proposal(services: Services) -> None:
    """The fields that differ are those from what the agent proposed, not from the last version."""
    await submit(services, "a", slice_key="letters", output="Yes.")
    await say(services, "a", Action.EDIT, "kim", "No.")
    with pytest.raises(InvalidInput, match="changes nothing"):
        await say(services, "a", Action.EDIT, "ada", "No.")
    back = await say(services, "a", Action.EDIT, "ada", "Yes.")
    assert back.draft is not None
    assert (back.draft.edited_fields, back.draft.correct) == ((), True)


async def test_pages_and_counts_agree_with_the_items(services: Services, clock: FixedClock) -> None:
    """Every filter gives the items of the whole list that it means, in the same order."""
    for number in range(12):
        slice_key = ("replies", "letters", "notes")[number % 3]
        output: Any = {"n": number} if slice_key == "notes" else f"Yes, {number}."
        await submit(services, f"a{number:02}", slice_key=slice_key, output=output)
        clock.advance(timedelta(minutes=number % 5))
    await say(services, "a00", Action.REJECT)
    await services.desk.escalate("a04", "ada")
    await services.desk.claim("a03", "kim")
    for is_open in (True, False):
        whole = await services.desk.page(Wanted(is_open=is_open))
        for slices in ((), ("replies",), ("letters", "notes"), ("none",)):
            for kinds in ((ReviewKind.REVIEW,), (ReviewKind.AUDIT,), tuple(ReviewKind)):
                wanted = Wanted(slices=slices, kinds=kinds, is_open=is_open)
                meant = [
                    one
                    for one in whole
                    if one.kind in kinds and (not slices or one.slice_key in slices)
                ]
                assert list(await services.desk.page(wanted)) == meant
                assert list(await services.desk.page(wanted, limit=2, offset=1)) == meant[1:3]
    items = [await item(services, f"a{number:02}") for number in range(12)]
    counted = {
        (one.slice_key, one.kind, one.state): (one.count, one.oldest)
        for one in await services.desk.counts()
    }
    found = Counter((one.slice_key, one.kind, one.state) for one in items)
    assert {key: count for key, (count, _) in counted.items()} == dict(found)
    for key, (_, oldest) in counted.items():
        same = [one for one in items if (one.slice_key, one.kind, one.state) == key]
        assert oldest == min(one.opened_at for one in same)


async def test_the_chain_covers_what_was_decided_on(
    services: Services, clock: FixedClock, tmp_path: Path
) -> None:
    """Whoever changes the digest of an approved content in the ledger is found out."""
    await submit(services, "a")
    await say(services, "a", Action.APPROVE)
    clock.advance(timedelta(seconds=10))
    await services.desk.settle()
    assert (await services.ledger.verify()).ok
    with sqlite3.connect(tmp_path / "s.db") as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'outcomes'"
        ).fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE outcomes SET content = ?", ("0" * 64,))
    connection.close()
    assert not (await services.ledger.verify()).ok
