"""An answer that contradicts what was released is told once, and opens an incident (R14)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from sureline.adapters.storage.statement import Statement
from sureline.core.values.notification import NoticeKind
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.switch import Switch
from sureline.errors import Conflict, NotFound
from tests.recalls.acting import act, decide, incidents, is_derived, opened, release, say, told

CORRECTED = NoticeKind.CORRECTED
REJECT, APPROVE = Action.REJECT, Action.APPROVE
AUDIT, INCIDENT = OutcomeSource.AUDIT, OutcomeSource.INCIDENT


@pytest.mark.parametrize("source", [AUDIT, INCIDENT, OutcomeSource.REVIEW])
async def test_what_acted_alone_and_was_wrong_is_told(source: OutcomeSource) -> None:
    """The notice has the decision, old and new verdict and the source, and no word of anybody."""
    services = await opened()
    await act(services, "d1")
    await say(services, "d1", REJECT, source, comment="the total is 99", by="Kim Secret")
    (notice,) = await told(services, CORRECTED)
    assert (notice.decision_id, notice.slice_key) == ("d1", "invoices")
    assert notice.submitted_by == "billing-bot"
    assert notice.facts == {
        "was": "right",
        "now": "wrong",
        "source": source.value,
        "said_by": "person",
    }
    assert "total" not in str(notice)
    assert "Kim" not in str(notice)
    (incident,) = await incidents(services)
    assert (incident.decision_id, incident.source, incident.stands) == ("d1", source, True)
    await is_derived(services)


async def test_what_confirms_a_release_is_not_told() -> None:
    """An audit that finds it right, and one that says so again, tell and open nothing."""
    services = await opened()
    await act(services, "d1")
    await say(services, "d1", APPROVE)
    await say(services, "d1", APPROVE, INCIDENT)
    assert await told(services, CORRECTED) == []
    assert await incidents(services, only_open=False) == []


async def test_the_same_answer_again_tells_nothing_new() -> None:
    """The same id again, and the same verdict under another id, are no second contradiction."""
    services = await opened()
    await act(services, "d1")
    first = await say(services, "d1", REJECT)
    await say(services, "d1", REJECT, id=first)
    await say(services, "d1", REJECT, INCIDENT)
    assert len(await told(services, CORRECTED)) == 1
    assert len(await incidents(services)) == 1
    await is_derived(services)


async def test_a_correction_can_be_corrected() -> None:
    """Right, wrong, right, wrong: each turn is told, and it stays one incident while it is open."""
    services = await opened()
    await act(services, "d1")
    for action in (REJECT, APPROVE, REJECT):
        await say(services, "d1", action, INCIDENT)
    turns = [one.facts["now"] for one in await told(services, CORRECTED)]
    assert sorted(turns) == ["right", "wrong", "wrong"]
    (incident,) = await incidents(services)
    assert incident.stands
    await say(services, "d1", APPROVE, INCIDENT)
    (incident,) = await incidents(services)
    assert not incident.stands
    await is_derived(services)


async def test_a_weaker_answer_corrects_nothing() -> None:
    """After an incident an audit's yes does not turn it: the stronger source holds."""
    services = await opened()
    await act(services, "d1")
    await say(services, "d1", REJECT, INCIDENT)
    await say(services, "d1", APPROVE, AUDIT)
    assert len(await told(services, CORRECTED)) == 1
    assert (await incidents(services))[0].stands
    await is_derived(services)


async def test_what_a_person_released_can_be_wrong_too() -> None:
    """An approval that a later answer contradicts is told; the approval itself is not."""
    services = await opened()
    await release(services, "d1")
    assert await told(services, CORRECTED) == []
    await say(services, "d1", REJECT, OutcomeSource.REVIEW)
    assert [one.decision_id for one in await told(services, CORRECTED)] == ["d1"]
    assert len(await incidents(services)) == 1
    await is_derived(services)


async def test_what_was_never_released_is_not_corrected() -> None:
    """A rejection that is called wrong later, and an item that nobody decided, released nothing."""
    services = await opened()
    await release(services, "d1", REJECT)
    await say(services, "d1", APPROVE, OutcomeSource.REVIEW)
    await say(services, "d1", REJECT, INCIDENT)
    assert await told(services, CORRECTED) == []
    assert await incidents(services, only_open=False) == []
    await is_derived(services)


async def test_an_answer_at_the_same_moment_as_the_release_counts() -> None:
    """What says so at the very moment of the verdict, by another person, is still a correction."""
    services = await opened()
    await release(services, "d1")
    services.clock.advance(timedelta(seconds=-11))  # type: ignore[attr-defined]
    await say(services, "d1", REJECT, OutcomeSource.REVIEW)
    assert len(await told(services, CORRECTED)) == 1
    await is_derived(services)


async def test_an_incident_is_closed_once_with_a_note(tmp_path: Path) -> None:
    """It leaves the open ones, stands in the logbook, and a later contradiction opens another."""
    services = await opened(tmp_path / "store.db")
    await act(services, "d1")
    await say(services, "d1", REJECT, INCIDENT)
    (incident,) = await incidents(services)
    store, now = services.store.incidents, services.clock.now()
    closed = await store.close("default", incident.id, by="ada", note="paid back", at=now)
    assert (closed.closed_by, closed.note, closed.is_open) == ("ada", "paid back", False)
    assert await incidents(services) == []
    assert [one.change for one in await services.logbook.entries()][-1] == "incident"
    with pytest.raises(Conflict, match="closed before, by ada"):
        await store.close("default", incident.id, by="kim", note="again", at=now)
    with pytest.raises(NotFound):
        await store.close("default", "inc_none", by="kim", note="again", at=now)
    await say(services, "d1", APPROVE, INCIDENT)
    await say(services, "d1", REJECT, INCIDENT)
    found = await incidents(services, only_open=False)
    assert [one.is_open for one in found] == [True, False]
    await is_derived(services)
    services.close()


async def test_incidents_are_made_anew_from_the_ledger() -> None:
    """A table that was emptied or changed by hand is put right, closings included."""
    services = await opened()
    for name in ("d1", "d2"):
        await act(services, name)
        await say(services, name, REJECT, INCIDENT)
    await release(services, "d3")
    await say(services, "d3", REJECT, OutcomeSource.REVIEW)
    first = (await incidents(services))[0]
    await services.store.incidents.close(
        "default", first.id, by="ada", note="done", at=services.clock.now()
    )
    before = await incidents(services, only_open=False)
    connection = services.store.database
    await connection.write(lambda one: one.run(Statement(text("DELETE FROM incidents"))))
    compared = await services.store.derived.rebuild(
        workspace="default", by="ada", at=services.clock.now()
    )
    assert [one.table for one in compared if not one.ok] == ["incidents"]
    assert await incidents(services, only_open=False) == before
    await is_derived(services)


async def test_switches_and_the_guard_are_told() -> None:
    """Each row is one notice, in its transaction; the guard's own kind is `guard.tripped`."""
    services = await opened()
    for by, on in (("guard", True), ("ada", False)):
        await services.ledger.set_switch(
            Switch(
                workspace="default",
                scope="slice:invoices",
                on=on,
                reason="Looks odd",
                by=by,
                changed_at=services.clock.now(),
            )
        )
    found = await told(services, NoticeKind.TRIPPED, NoticeKind.SWITCHED)
    assert {(one.kind.value, one.facts["turned"], one.slice_key) for one in found} == {
        ("guard.tripped", "on", "invoices"),
        ("switch.changed", "off", "invoices"),
    }
    assert "odd" not in str(found)


async def test_a_decided_item_of_the_queue_is_no_correction_of_itself() -> None:
    """Two different people's verdicts on two items never meet: each is about its own decision."""
    services = await opened()
    await release(services, "d1")
    await release(services, "d2", REJECT)
    await act(services, "d3", task="x")
    assert await told(services, CORRECTED) == []
    with pytest.raises(Conflict):
        await decide(services, "d1", REJECT)
