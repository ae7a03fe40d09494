"""Missions are kept whole, each step with all that goes with it or not at all."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sureline.adapters.storage.copy_store import copy_store
from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.period_rows import PeriodRows
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.transaction import Transaction
from sureline.application.identify import subject_key
from sureline.application.ports.missions import Change, MissionFilter
from sureline.core.chain_export import verify_export
from sureline.core.evidence import Period, PeriodViews
from sureline.core.mission.step import Step
from sureline.core.values.mission import (
    Cause,
    EventKind,
    Mission,
    MissionState,
)
from sureline.core.values.outcome import Action
from sureline.errors import Conflict, NotFound, StoreCorrupt, StoreError
from tests.adapters.storage.mission_samples import (
    HERE,
    SLICE,
    begin,
    counted,
    evaluation,
    event,
    full_mission,
    mission,
    step,
    suspend,
)
from tests.adapters.storage.samples import NOON, outcome, record
from tests.postgres import Postgres

HOUR = timedelta(hours=1)
ALL = MissionFilter()


@pytest.mark.parametrize(
    "new",
    [
        mission(),
        full_mission(),
        full_mission(last=None, escalation=None, running=None),
        full_mission(last=replace(full_mission().last, achieved=None, confidence=None, fault="x")),
    ],
    ids=["new", "full", "never evaluated", "failed evaluation"],
)
async def test_a_mission_comes_back_as_it_was(store: Store, new: Mission) -> None:
    """Every field survives, whatever the database."""
    assert await store.missions.mission(HERE, "m1") is None
    assert await store.missions.create(begin(new)) == new
    assert await store.missions.mission(HERE, "m1") == new
    assert await store.missions.mission("other", "m1") is None
    assert list(await store.missions.events(HERE, "m1")) == [event(new)]
    assert (await store.ledger.verify()).ok
    assert all(one.ok for one in await store.derived.compare())


async def test_creating_again_returns_what_is_stored(store: Store) -> None:
    """A known id writes nothing, whatever else is said."""
    await store.missions.create(begin())
    rows = (await store.ledger.verify()).rows
    assert await store.missions.create(begin(mission(objective="other"))) == mission()
    assert (await store.ledger.verify()).rows == rows


async def test_a_step_writes_all_that_goes_with_it(store: Store) -> None:
    """State, timeline, evaluation, its counts and the notice are there together."""
    await store.missions.create(begin())
    change = await store.missions.change(HERE, "m1", suspend)
    found = await store.missions.mission(HERE, "m1")
    assert found == change.step.mission
    assert [one.kind for one in await store.missions.events(HERE, "m1")] == [
        EventKind.CREATED,
        EventKind.SUSPENDED,
    ]
    stored = await store.ledger.decision(HERE, "m1.1.1")
    assert stored is not None
    assert await store.ledger.route_counts(HERE) == {SLICE: {"auto_approve": 1}}
    with store.database.snapshot() as each:
        (told,) = each(compiled(notices.select()), ())
    assert told[1] == "m1-2"
    assert (await store.ledger.verify()).ok
    assert all(one.ok for one in await store.derived.compare())


async def test_an_evaluation_that_is_stored_is_not_written_again(store: Store) -> None:
    """Nor is its label; the step is done all the same."""
    await store.missions.create(begin())
    await store.missions.change(HERE, "m1", suspend)
    given = outcome("a1", "m1.1.1", action=Action.REJECT, correct=False)

    def answer(before: Mission) -> Change:
        done = step(before, EventKind.RESUMED, state=MissionState.ACTIVE, cause=Cause.PERSON)
        again = evaluation("m1.1.1", route="auto_reject")
        return Change(step=done, evaluation=again, answer=given)

    for _ in range(2):
        await store.missions.change(HERE, "m1", answer)
    stored = await store.ledger.decision(HERE, "m1.1.1")
    assert stored is not None
    assert stored.route == "auto_approve"
    assert list(await store.ledger.outcomes(HERE, "m1.1.1")) == [given]
    found = await store.missions.mission(HERE, "m1")
    assert found is not None
    assert (found.version, found.state) == (4, MissionState.ACTIVE)
    (labels,) = await store.ledger.label_counts(HERE, SLICE, stored.measurement_hash)
    assert (labels.correct, labels.count) == (False, 1)
    assert all(one.ok for one in await store.derived.compare())


def _raise(_: Mission) -> Change:
    raise Conflict("no")


def _bad_label(before: Mission) -> Change:
    return Change(
        step=step(before, invocations=5),
        evaluation=evaluation("m1.1.9"),
        answer=outcome("a1", "nowhere"),
    )


def _other_label(before: Mission) -> Change:
    return Change(
        step=step(before, invocations=5),
        evaluation=evaluation("m1.1.9"),
        answer=outcome("taken", "m1.1.9"),
    )


def _no_event(before: Mission) -> Change:
    return Change(step=Step(mission=replace(before, state=MissionState.ACTIVE)))


def _no_json(before: Mission) -> Change:
    after = step(before, invocations=5)
    bad = replace(after.mission, evidence=replace(before.evidence, state=float("nan")))
    return Change(step=replace(after, mission=bad), evaluation=evaluation("m1.1.9"))


def _no_zone(before: Mission) -> Change:
    after = step(before, invocations=5, updated_at=NOON.replace(tzinfo=None))
    return Change(step=after, evaluation=evaluation("m1.1.9"))


def _of_the_gate(before: Mission) -> Change:
    return Change(step=step(before, invocations=5), evaluation=evaluation("dgate"))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (_raise, Conflict),
        (_of_the_gate, Conflict),
        (_bad_label, NotFound),
        (_other_label, Conflict),
        (_no_event, ValueError),
        (_no_json, Exception),
        (_no_zone, Exception),
    ],
    ids=[
        "refused",
        "a decision of the gate",
        "label of nothing",
        "label's id taken",
        "no event",
        "no JSON",
        "no zone",
    ],
)
async def test_what_is_refused_leaves_no_half_step(store: Store, make: Any, error: Any) -> None:
    """Neither the mission nor the ledger has changed, and others of the same batch go on."""
    await store.missions.create(begin())
    await store.missions.create(begin(mission("m2")))
    await store.ledger.append(record("gate"))
    await store.ledger.append(evaluation("m1.1.1"))
    await store.ledger.record_outcome(outcome("taken", "m1.1.1"))
    rows = (await store.ledger.verify()).rows
    done = await asyncio.gather(
        store.missions.change(HERE, "m1", make),
        store.missions.change(HERE, "m2", counted),
        return_exceptions=True,
    )
    assert isinstance(done[0], error)
    assert isinstance(done[1], Change)
    assert await store.missions.mission(HERE, "m1") == mission()
    assert await store.ledger.decision(HERE, "m1.1.9") is None
    assert (await store.ledger.verify()).rows == rows + 1
    with pytest.raises(NotFound):
        await store.missions.change(HERE, "m3", counted)


async def test_a_step_that_changes_nothing_writes_nothing(store: Store) -> None:
    """A mission that stays as it was costs no row."""
    await store.missions.create(begin())
    rows = (await store.ledger.verify()).rows
    await store.missions.change(HERE, "m1", lambda one: Change(step=Step(mission=one)))
    assert (await store.ledger.verify()).rows == rows


async def test_steps_at_the_same_time_follow_each_other(store: Store) -> None:
    """None is lost: each sees what the one before left."""
    await store.missions.create(begin())
    await asyncio.gather(*(store.missions.change(HERE, "m1", counted) for _ in range(40)))
    found = await store.missions.mission(HERE, "m1")
    assert found is not None
    assert (found.invocations, found.version) == (40, 41)
    facts = [one.facts["n"] for one in (await store.missions.events(HERE, "m1"))[1:]]
    assert facts == list(range(1, 41))
    latest = await store.missions.events(HERE, "m1", limit=2)
    assert [one.facts["n"] for one in latest] == [39, 40]


async def fill_list(store: Store) -> None:
    """Write missions of two kinds in several states."""
    rows = [
        ("old", MissionState.ACTIVE, "k1", None, 0),
        ("waits", MissionState.SUSPENDED, "k1", "key-1", 1),
        ("new", MissionState.ACTIVE, "k2", "key-1", 3),
        ("done", MissionState.COMPLETED, "k2", None, 2),
        ("waits too", MissionState.SUSPENDED, "k2", None, 2),
    ]
    for name, state, kind, key, hours in rows:
        new = mission(
            name, state=state, kind=kind, submitted_by=key, updated_at=NOON + hours * HOUR
        )
        await store.missions.create(begin(new))
    await store.missions.create(begin(mission("elsewhere", workspace="other")))


LISTED = [
    (ALL, ["waits too", "waits", "new", "done", "old"]),
    (MissionFilter(states=frozenset({MissionState.ACTIVE})), ["new", "old"]),
    (MissionFilter(kinds=frozenset({"k1"})), ["waits", "old"]),
    (MissionFilter(submitted_by="key-1"), ["waits", "new"]),
    (MissionFilter(states=frozenset(), kinds=frozenset({"k1", "k2"})), []),
    (MissionFilter(states=frozenset({MissionState.SUSPENDED}), kinds=frozenset({"k1"})), ["waits"]),
]


async def test_those_that_wait_come_first(store: Store) -> None:
    """Then the latest change; filters and pages hold, and counts are by kind and state."""
    await fill_list(store)
    for wanted, names in LISTED:
        found = await store.missions.list(HERE, wanted, limit=9)
        assert [one.id for one in found] == names
    page = await store.missions.list(HERE, ALL, limit=2, offset=1)
    assert [one.id for one in page] == ["waits", "new"]
    assert await store.missions.counts(HERE) == {
        "k1": {MissionState.ACTIVE: 1, MissionState.SUSPENDED: 1},
        "k2": {MissionState.ACTIVE: 1, MissionState.COMPLETED: 1, MissionState.SUSPENDED: 1},
    }


async def test_timers_come_when_they_are_due(store: Store) -> None:
    """The longest overdue first; what is over has none, and a reminder comes before a deadline."""
    for name, changes in {
        "late": {"deadline_at": NOON + 2 * HOUR},
        "later": {"deadline_at": NOON + 3 * HOUR},
        "over": {"state": MissionState.FAILED, "deadline_at": NOON},
    }.items():
        await store.missions.create(begin(mission(name, **changes)))
    await store.missions.create(begin(full_mission("reminded")))
    due = store.missions.due
    assert await due(HERE, NOON, 9) == []
    assert await due(HERE, NOON + 2 * HOUR, 9) == ["reminded", "late"]
    assert await due(HERE, NOON + 9 * HOUR, 2) == ["reminded", "late"]
    assert await due("other", NOON + 9 * HOUR, 2) == []


@pytest.mark.parametrize(
    "damage",
    ["body = '{}'", "words = 'x'", "words = NULL", "state = 'completed'", "version = 8",
     "cause = 'achieved'"],
)  # fmt: skip
def test_a_damaged_mission_is_named_and_holds_up_no_other(path: Path, damage: str) -> None:
    """It can neither be read nor changed, but erased; the list shows the others."""

    async def work() -> None:
        await store.missions.create(begin(full_mission()))
        await store.missions.create(begin(mission("m2")))
        set_ = damage.replace("'{}'", "CAST('{}' AS BLOB)").replace("'x'", "CAST('x' AS BLOB)")
        store.database._writing.executescript(f"UPDATE missions SET {set_} WHERE id = 'm1'")
        for ask in (
            store.missions.mission(HERE, "m1"),
            store.missions.change(HERE, "m1", counted),
            store.missions.create(begin(full_mission())),
        ):
            with pytest.raises(StoreCorrupt, match="'m1'"):
                await ask
        assert [one.id for one in await store.missions.list(HERE, ALL, limit=9)] == ["m2"]
        assert await store.missions.due(HERE, NOON + 9 * HOUR, 9) == ["m2"]
        if "NULL" not in damage:
            erased = event(full_mission(), EventKind.ERASED, by="kim")
            assert await store.missions.erase(HERE, "m1", erased)
            assert b"Acme" not in _words(store)

    store = open_store(f"sqlite:///{path}")
    asyncio.run(work())
    store.close()


def _words(store: Store) -> bytes:
    rows = store.database._writing.execute("SELECT words FROM missions WHERE id = 'm1'").fetchall()
    return rows[0][0] or b""


TAMPERED = [
    ("UPDATE missions SET state = 'completed'", "default m1: completed unsure damaged is stored, "
     "suspended unsure by the ledger", True),
    ("UPDATE missions SET body = replace(CAST(body AS TEXT), 'suspended', 'completed')",
     "suspended unsure damaged is stored", True),
    ("UPDATE missions SET state = 'completed', "
     "body = CAST(replace(CAST(body AS TEXT), 'suspended', 'completed') AS BLOB)",
     "completed unsure is stored, suspended unsure by the ledger", True),
    ("DELETE FROM missions", "nothing is stored, suspended unsure by the ledger", False),
    ("UPDATE missions SET id = 'm2'", "default m2: suspended unsure is stored, nothing", False),
    ("UPDATE missions SET body = 'x'", "damaged", False),
]  # fmt: skip


@pytest.mark.parametrize(("act", "said", "mended"), TAMPERED)
def test_a_state_that_the_timeline_does_not_say_is_found(
    path: Path, act: str, said: str, mended: bool
) -> None:
    """Verification names the mission; where only the state is wrong, rebuilding puts it right."""

    async def work() -> None:
        await store.missions.create(begin(full_mission()))
        store.database._writing.executescript(act)
        (wrong,) = (one for one in await store.derived.compare() if not one.ok)
        assert wrong.table == "missions"
        assert said in wrong.sentence
        assert (await store.ledger.verify()).ok
        await store.derived.rebuild(workspace=HERE, by="kim", at=NOON)
        assert all(one.ok for one in await store.derived.compare()) is mended
        if mended:
            assert await store.missions.mission(HERE, "m1") == full_mission()

    store = open_store(f"sqlite:///{path}")
    asyncio.run(work())
    store.close()


@pytest.mark.parametrize(
    "act", ["UPDATE mission_events SET state = 'failed'", "DELETE FROM mission_events"]
)
async def test_nobody_changes_a_timeline(store: Store, act: str) -> None:
    """The database refuses it, and the chain would show it."""
    await store.missions.create(begin())

    def change(transaction: Transaction) -> None:
        transaction.run(compiled(text(act)))

    with pytest.raises(StoreError):
        await store.database.write(change)
    lines = list(store.ledger.export())
    assert verify_export(lines).ok
    assert not verify_export([lines[0].replace('"created"', '"completed"')]).ok


async def test_a_pack_of_evidence_tells_of_missions_and_not_who_answered(store: Store) -> None:
    """How they were judged and ended is listed; the turns of their agents are in the chain."""
    await store.missions.create(begin())
    await store.missions.change(HERE, "m1", counted)
    await store.missions.change(HERE, "m1", suspend)

    def resume(before: Mission) -> Change:
        changes = {"state": MissionState.ACTIVE, "cause": Cause.PERSON}
        done = step(before, EventKind.RESUMED, **changes)
        return Change(step=replace(done, events=(replace(done.events[0], by="kim"),)))

    await store.missions.change(HERE, "m1", resume)
    period = Period(workspace=HERE, since=NOON, until=NOON + HOUR)
    views = PeriodViews(period, seed="s", sample=1)
    with store.database.reader() as fetch:
        rows = PeriodRows(fetch=fetch, store="s")
        for stream, stretch in rows.stretches(period).items():
            for row in rows.rows(stream, stretch):
                views.add(row)
    lines = views.lines()["missions.jsonl"]
    assert [json.loads(one)["event"] for one in lines] == ["created", "suspended", "resumed"]
    assert "kim" not in "".join(lines)


@pytest.mark.parametrize("pair", [("file", "postgres"), ("postgres", "file")], ids="-".join)
async def test_missions_are_copied_with_the_store(
    pair: tuple[str, str], tmp_path: Path, postgres: Postgres
) -> None:
    """They go on in the other database, found by subject, timer and state."""
    made = {"file": f"sqlite:///{tmp_path / 's.db'}", "postgres": postgres.database()}
    source, target = (open_store(made[kind]) for kind in pair)
    await source.missions.create(begin(full_mission()))
    await source.missions.create(begin(mission("m2")))
    await source.missions.change(HERE, "m2", suspend)
    report = await copy_store(source, target, progress=lambda _: None)
    assert report.problem is None
    target.close()
    target = open_store(made[pair[1]])  # with the secret of the source
    for name in ("m1", "m2"):
        assert await target.missions.mission(HERE, name) == await source.missions.mission(
            HERE, name
        )
        assert await target.missions.events(HERE, name) == await source.missions.events(HERE, name)
    await target.missions.change(HERE, "m2", counted)
    assert await target.missions.due(HERE, NOON + 9 * HOUR, 9) == ["m1", "m2"]
    key = subject_key(target.secret, HERE, "customer 17")
    assert await target.erasures.about(HERE, key) == 1
    assert (await target.ledger.verify()).ok
    assert all(one.ok for one in await target.derived.compare())
    source.close()
    target.close()
