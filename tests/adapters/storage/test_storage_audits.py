"""Audits are due until they are answered, and their labels come back in order."""

from __future__ import annotations

from datetime import timedelta

from sureline.adapters.storage.store import Store
from sureline.core.values.outcome import Action, OutcomeSource
from tests.adapters.storage.samples import MEASUREMENT, NOON, outcome, record, switch

DRAWN = {"route": "auto_approve", "audit": True, "propensity": 0.05}
AUDIT = {"source": OutcomeSource.AUDIT, "anchored": False}


async def _due(store: Store, slice_key: str | None = None, limit: int = 10) -> list[str]:
    return [one.decision_id for one in await store.ledger.due_audits("default", slice_key, limit)]


async def _audited(store: Store, **since: object) -> list[tuple[str, bool]]:
    found = await store.ledger.audited_labels("default", "invoices", MEASUREMENT, **since)  # type: ignore[arg-type]
    return [(one.decision_id, one.correct) for one in found]


async def test_only_what_was_drawn_is_due_oldest_first(store: Store) -> None:
    """An automated decision outside the sample is never asked about, nor one elsewhere."""
    await store.ledger.append(record(1, **DRAWN))
    await store.ledger.append(record(2, route="auto_approve"))
    await store.ledger.append(record(3, workspace="other", **DRAWN))
    await store.ledger.append(record(4, slice_key="replies", **DRAWN))
    await store.ledger.append(record(5, **DRAWN))
    assert await _due(store) == ["d1", "d4", "d5"]
    assert await _due(store, "invoices") == ["d1", "d5"]
    assert await _due(store, limit=1) == ["d1"]
    (first,) = await store.ledger.due_audits("default", None, 1)
    assert (first.slice_key, first.decided_at) == ("invoices", NOON)


async def test_only_an_audit_label_ends_it(store: Store) -> None:
    """Skipping is no label, and neither a review nor an incident stands in for the audit."""
    await store.ledger.append(record(1, **DRAWN))
    skip = {"action": Action.SKIP, "correct": None}
    await store.ledger.record_outcome(outcome("o1", **AUDIT, **skip))
    await store.ledger.record_outcome(outcome("o2"))
    await store.ledger.record_outcome(outcome("o3", source=OutcomeSource.INCIDENT))
    assert await _due(store) == ["d1"]
    assert await _audited(store) == []
    await store.ledger.record_outcome(outcome("o4", **AUDIT))
    assert await _due(store) == []
    assert await _audited(store) == [("d1", True)]


async def test_what_was_erased_cannot_be_audited(store: Store) -> None:
    """Without its payload there is nothing to look at."""
    await store.ledger.append(record(1, **DRAWN))
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert await _due(store) == []
    (erasure,) = await store.ledger.erasures("default")
    assert (erasure.decision_id, erasure.by, erasure.reason) == ("d1", "kim", "asked")
    assert await store.ledger.erasures("other") == []


async def test_audited_labels_come_in_the_order_of_the_answers(store: Store) -> None:
    """The guard needs them as they came in, one for each decision, others' left out."""
    for number in (1, 2, 3):
        await store.ledger.append(record(number, **DRAWN))
    await store.ledger.append(record(4, route="auto_approve"))
    await store.ledger.append(record(5, measurement_hash="other", **DRAWN))
    for name, decision, correct in (("a", 2, True), ("b", 1, False), ("c", 2, False)):
        label = {"correct": correct, "action": Action.APPROVE if correct else Action.REJECT}
        await store.ledger.record_outcome(outcome(name, f"d{decision}", **AUDIT, **label))
    for decision in (4, 5):
        await store.ledger.record_outcome(outcome(f"o{decision}", f"d{decision}", **AUDIT))
    assert await _audited(store) == [("d2", False), ("d1", False)]


async def test_an_incident_overrides_the_auditor(store: Store) -> None:
    """The audit stays in the ledger; what counts is what turned out."""
    await store.ledger.append(record(1, **DRAWN))
    await store.ledger.record_outcome(outcome("o1", **AUDIT))
    incident = {"action": Action.REJECT, "correct": False, "source": OutcomeSource.INCIDENT}
    await store.ledger.record_outcome(outcome("o2", **incident))
    assert await _audited(store) == [("d1", False)]
    assert [one.correct for one in await store.ledger.outcomes("default", "d1")] == [True, False]


async def test_audited_labels_begin_at_a_moment(store: Store) -> None:
    """What was decided before is left out, whenever it was audited."""
    await store.ledger.append(record(1, **DRAWN))
    await store.ledger.append(record(2, **DRAWN, created_at=NOON + timedelta(hours=1)))
    for name in ("d1", "d2"):
        await store.ledger.record_outcome(outcome(f"of {name}", name, **AUDIT))
    assert await _audited(store, since=NOON + timedelta(minutes=1)) == [("d2", True)]


async def test_every_switch_row_is_kept(store: Store) -> None:
    """The history has what the newest state no longer tells."""
    await store.ledger.set_switch(switch("slice:invoices", by="guard"))
    await store.ledger.set_switch(switch("slice:invoices", on=False))
    await store.ledger.set_switch(switch("global", workspace="other"))
    found = await store.ledger.switch_history("default")
    assert [(one.by, one.on) for one in found] == [("guard", True), ("kim", False)]
