"""A mission's words go, and its figures, its timeline and the chain stay."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.erase_mission import erased_event
from sureline.adapters.storage.restored import every_erasure
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store, open_store
from sureline.application.identify import subject_key
from sureline.application.ports.missions import Change, MissionFilter
from sureline.application.retention import Keeper
from sureline.bootstrap.backup import back_up, drill, mark_restored
from sureline.core.values.mission import Cause, EventKind, Mission, MissionState
from sureline.core.values.mission_evidence import Evidence, Turn
from sureline.core.values.policy import Policy
from sureline.core.values.retention import RetentionPolicy
from sureline.errors import NotFound
from sureline.testing import FixedClock
from tests.adapters.storage.mission_samples import (
    HERE,
    SLICE,
    begin,
    counted,
    evaluation,
    full_mission,
    mission,
    step,
    suspend,
)
from tests.adapters.storage.samples import NOON, outcome, record
from tests.builders import slice_policy

LATER = NOON + timedelta(days=1)
EVENT = erased_event(HERE, "m1", by="dpo", reason="asked", at=LATER)
REASON = {"by": "dpo", "reason": "asked", "at": LATER}


def places(store: Store) -> set[str]:
    """Return where the name that missions quote still stands."""
    with store.database.snapshot() as each:
        return {
            f"{table.name}.{column.name}"
            for table in metadata.tables.values()
            for row in each(compiled(select(*table.columns)), ())
            for column, value in zip(table.columns, row, strict=True)
            if b"acme" in str(value).lower().encode()
        }


async def assert_whole(store: Store) -> None:
    report = await store.ledger.verify()
    assert report.fault is None
    assert all(one.ok for one in await store.derived.compare())


async def fill(store: Store) -> None:
    """Write a mission with two evaluations and a label that has words."""
    await store.missions.create(begin(full_mission(state=MissionState.ACTIVE)))
    for name in ("m1.1.5", "m1.2.5"):
        made = evaluation(name, answer=b'{"output": {"reasoning": "Acme is open"}}')
        await store.missions.change(
            HERE,
            "m1",
            lambda one, made=made: Change(step=step(one, EventKind.EVALUATED), evaluation=made),
        )
    await store.ledger.record_outcome(outcome("o1", "m1.2.5", comment="Acme again"))


@pytest.mark.parametrize("state", [MissionState.ACTIVE, MissionState.SUSPENDED])
async def test_nothing_is_left_of_a_mission_s_words(store: Store, state: MissionState) -> None:
    """Nor of its evaluations'; it fails, since nobody could go on, and all of that is on record."""
    await fill(store)
    changed = {"state": state, "cause": Cause.UNSURE}
    await store.missions.change(
        HERE, "m1", lambda one: Change(step=step(one, EventKind.SUSPENDED, **changed))
    )
    assert places(store) == {"missions.words", "payloads.answer", "payloads.request"}
    assert await store.missions.erase(HERE, "m1", EVENT)
    assert places(store) == set()
    found = await store.missions.mission(HERE, "m1")
    assert found is not None
    assert found.erased
    assert (found.state, found.cause) == (MissionState.FAILED, Cause.PERSON)
    assert (found.objective, found.subject, found.running, found.timer_at) == ("", None, None, None)
    assert found.spent == full_mission().spent
    assert found.last is not None
    assert (found.last.confidence, found.last.reasoning) == (0.55, None)
    last = (await store.missions.events(HERE, "m1"))[-1]
    assert (last.kind, last.by, last.state) == (EventKind.ERASED, "dpo", MissionState.FAILED)
    erased = {(one.decision_id, one.by, one.reason) for one in await store.ledger.erasures(HERE)}
    assert erased == {(one, "dpo", "asked") for one in ("m1", "m1.1.5", "m1.2.5")}
    await assert_whole(store)
    assert not await store.missions.erase(HERE, "m1", EVENT)
    with pytest.raises(NotFound):
        await store.missions.erase(HERE, "m9", EVENT)


async def test_a_mission_that_is_over_stays_as_it_ended(store: Store) -> None:
    """Erasing changes no result."""
    done = full_mission(
        state=MissionState.COMPLETED, cause=Cause.ACHIEVED, ended_at=NOON, escalation=None
    )
    await store.missions.create(begin(done))
    assert await store.missions.erase(HERE, "m1", EVENT)
    found = await store.missions.mission(HERE, "m1")
    assert found is not None
    assert (found.state, found.cause, found.ended_at) == (done.state, done.cause, NOON)
    await assert_whole(store)


async def test_what_comes_after_the_erasure_brings_no_words_back(store: Store) -> None:
    """A worker that was thinking meanwhile cannot write what it thought."""
    await fill(store)
    await store.missions.erase(HERE, "m1", EVENT)

    def late(one: Mission) -> Change:
        after = step(one, invocations=9, objective="Acme", evidence=full_mission().evidence)
        return Change(step=after, evaluation=evaluation("m1.2.9"))

    await store.missions.change(HERE, "m1", late)
    assert places(store) == set()
    stored = await store.ledger.decision(HERE, "m1.2.9")
    assert stored is not None
    assert stored.answer is None
    await assert_whole(store)


async def test_erasing_an_evaluation_takes_its_words_from_the_mission(store: Store) -> None:
    """What the mission itself says stays, and so does its state."""
    await fill(store)
    assert await store.ledger.erase(HERE, "m1.1.5", **REASON)
    before = await store.missions.mission(HERE, "m1")
    assert before is not None
    assert before.last is not None
    assert before.last.reasoning is not None
    assert await store.ledger.erase(HERE, "m1.2.5", **REASON)
    after = await store.missions.mission(HERE, "m1")
    assert after is not None
    assert after.last is not None
    assert (after.last.reasoning, after.last.progress) == (None, None)
    assert after.objective == before.objective
    assert after.version == before.version
    await store.missions.change(HERE, "m1", counted)
    await assert_whole(store)


async def test_what_is_about_a_subject_goes_mission_by_mission(store: Store) -> None:
    """Missions and decisions alike, a page at a time; others' stay."""
    key = subject_key(store.secret, HERE, "customer 17")
    await fill(store)
    await store.missions.create(begin(full_mission("m2")))
    await store.missions.create(begin(mission("m3", subject="customer 18", objective="other")))
    await store.missions.create(begin(mission("m4", objective="other")))
    await store.ledger.append(record("x", subject=key, answer=b"Acme", request=b""))
    count, erase = store.erasures.about, store.erasures.erase_subject
    assert await count(HERE, key) == 3
    assert await count("other", key) == 0
    pages = [await erase(HERE, key, limit=1, **REASON) for _ in range(4)]
    assert pages == [1, 1, 1, 0]
    assert await count(HERE, key) == 0
    assert places(store) == set()
    states = {
        one.id: one.state for one in await store.missions.list(HERE, MissionFilter(), limit=9)
    }
    assert states == {
        "m1": MissionState.FAILED,
        "m2": MissionState.FAILED,
        "m3": MissionState.CREATED,
        "m4": MissionState.CREATED,
    }
    await assert_whole(store)


async def test_missions_that_are_over_for_long_are_found(store: Store) -> None:
    """By their slice, in pages, until their words are gone; what runs is left alone."""
    over = {"state": MissionState.COMPLETED, "cause": Cause.ACHIEVED}
    for name in ("a", "b", "c"):
        await store.missions.create(begin(full_mission(name, **over, ended_at=NOON)))
    await store.missions.create(begin(full_mission("late", **over, ended_at=LATER)))
    await store.missions.create(begin(full_mission("runs")))
    await store.missions.create(begin(full_mission("kind", kind="k", **over, ended_at=NOON)))
    past = store.erasures.past_missions
    assert await past(HERE, SLICE, LATER, after="", limit=2) == ["a", "b"]
    assert await past(HERE, SLICE, LATER, after="b", limit=2) == ["c"]
    assert await store.erasures.erase_missions(HERE, ["a", "b", "c"], **REASON) == 3
    assert await store.erasures.erase_missions(HERE, ["a"], **REASON) == 0
    assert await past(HERE, SLICE, LATER, after="", limit=9) == []
    await assert_whole(store)


async def test_the_latest_evaluation_of_an_open_mission_is_held(store: Store) -> None:
    """A person is to say something to it: time alone does not erase it."""
    await store.missions.create(begin(mission("m1")))
    await store.missions.create(begin(mission("m2")))
    for name in ("m1", "m2"):
        await store.missions.change(HERE, name, suspend)
    failed = {"state": MissionState.FAILED, "cause": Cause.PERSON, "ended_at": NOON}
    await store.missions.change(
        HERE, "m2", lambda one: Change(step=step(one, EventKind.FAILED, **failed))
    )
    page = await store.erasures.past_due(HERE, {SLICE: LATER}, None)
    holds = {one.decision_id: [*one.holds] for one in page.found}
    assert holds == {"m1.1.1": ["in_queue"], "m2.1.1": []}


async def test_a_namesake_s_evaluations_stay(store: Store) -> None:
    """Evaluations are those that the mission's timeline names, whatever ids look like."""
    await fill(store)
    failed = evaluation("m1.2.6.9", route="human_required")
    await store.missions.change(
        HERE,
        "m1",
        lambda one: Change(step=step(one, EventKind.EVALUATION_FAILED), evaluation=failed),
    )
    others = ["m1.1.1.1", "m1.x.5", "m10.1.1", "m1.7.7"]
    await asyncio.gather(*(store.ledger.append(evaluation(one)) for one in others))
    await store.missions.erase(HERE, "m1", EVENT)
    gone = await store.ledger.decision(HERE, "m1.2.6.9")
    assert gone is not None
    assert gone.answer is None
    for one in others:
        stored = await store.ledger.decision(HERE, one)
        assert stored is not None
        assert stored.answer is not None


async def test_what_was_erased_after_the_backup_is_erased_again(tmp_path: Path) -> None:
    """A restored store knows nothing of it; the list of erasures says so, missions included."""
    url, copy = f"sqlite:///{tmp_path / 's.db'}", tmp_path / "b.db"
    store = open_store(url)
    await fill(store)
    await store.missions.create(begin(full_mission("m2")))
    await store.ledger.seal(NOON)
    await back_up(url, copy, progress=lambda _: None)
    assert (await drill(copy, None)).faults == ()
    await store.missions.erase(HERE, "m1", EVENT)
    await store.ledger.append(evaluation("m2.2.5"))
    await store.ledger.erase(HERE, "m2.2.5", **REASON)
    erasures = every_erasure(store.database)
    store.close()
    done = await mark_restored(f"sqlite:///{copy}", by="ada", reason="lost", erasures=erasures)
    # The mission and both its evaluations; that of the other came after the backup.
    assert (done.erased, done.erased_before, done.unknown) == (3, 0, 1)
    restored = open_store(f"sqlite:///{copy}")
    found = await restored.missions.mission(HERE, "m1")
    assert found is not None
    assert found.erased
    other = await restored.missions.mission(HERE, "m2")
    assert other == full_mission("m2")
    await assert_whole(restored)
    assert [one.scope for one in await restored.ledger.switches(HERE)] == ["global"]
    restored.close()


class Book:
    """A policy whose missions lose their words after a month."""

    async def latest(self) -> Policy:
        slices = {
            key: slice_policy(
                key=key, is_mission=is_mission, retention=RetentionPolicy(payload_days=days)
            )
            for key, is_mission, days in (
                (SLICE, True, 30),
                ("mission.kept", True, None),
                ("invoices", False, 30),
            )
        }
        return Policy(hash="p", slices=slices, action_classes={}, measurement_hashes={}, raw={})


async def test_the_policy_s_time_holds_for_missions(store: Store) -> None:
    """What is over for as long as its slice keeps payloads loses its words; the rest waits."""
    over = {"state": MissionState.COMPLETED, "cause": Cause.ACHIEVED, "escalation": None}
    await store.missions.create(begin(full_mission("old", **over, ended_at=NOON)))
    await store.missions.create(begin(full_mission("new", **over, ended_at=LATER)))
    await store.missions.create(begin(full_mission("kept", kind="kept", **over, ended_at=NOON)))
    await store.missions.create(begin(full_mission("open")))
    keeper = Keeper(
        store=store.erasures,
        policies=Book(),  # type: ignore[arg-type]
        clock=FixedClock(NOON + timedelta(days=30, hours=1)),
        workspace=HERE,
    )
    looked = await keeper.look()
    assert [(one.slice_key, one.erased) for one in looked.slices] == [("invoices", 0), (SLICE, 1)]
    assert (await keeper.run()).erased == 1
    assert (await keeper.run()).erased == 0
    missions = await store.missions.list(HERE, MissionFilter(), limit=9)
    assert {one.id for one in missions if one.erased} == {"old"}
    last = (await store.missions.events(HERE, "old"))[-1]
    assert (last.by, last.facts) == ("policy", {"reason": "kept for 30 days by policy p"})
    await assert_whole(store)


def named_in(path: Path) -> bool:
    """Tell whether a store's file or its log has the name."""
    files = (path, Path(f"{path}-wal"))
    return any(b"Acme" in one.read_bytes() for one in files if one.exists())


async def test_no_byte_of_the_words_stays_in_the_files(path: Path) -> None:
    """Neither in a page that an earlier step left, nor in the log."""
    store = open_store(f"sqlite:///{path}")
    long = Evidence(conversation=tuple(Turn(role="agent", text=f"Acme {n}" * 99) for n in range(9)))
    await store.missions.create(begin(full_mission(evidence=long)))
    for _ in range(5):
        await store.missions.change(HERE, "m1", counted)
    assert named_in(path)
    assert await store.missions.erase(HERE, "m1", EVENT)
    assert not named_in(path)
    store.close()
    assert not named_in(path)
