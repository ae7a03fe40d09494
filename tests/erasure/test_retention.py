"""What the policy does not keep any longer is erased, unless something still needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sureline.adapters.storage.retention import PAGE as LOOKED
from sureline.application.label import GivenAnswer
from sureline.application.ports.erasures import Hold
from sureline.application.review.desk import Said
from sureline.bootstrap.erasing import keeper
from sureline.core.values.outcome import Action, OutcomeSource
from tests.adapters.storage.samples import record
from tests.erasure.marked import MARK, Marked, counts, places_of, take_payload

POLICY = """\
version: 1
defaults:
  retention: {payload_days: 30}
  review: {double_review: 0, honeypots: 0}
slices:
  invoices:
    mode: route
    audit_rate: 1
    weights: {verification: 1}
    output: {json_schema: {type: object}}
    hypothesis: {auto: 0.85, reject: 0.1, allow_uncertified: true, starts: 2026-01-05}
  corrected:
    weights: {verification: 1}
    output: {json_schema: {type: object}}
    review: {deadline_minutes: 525600, double_review: 0, honeypots: 0}
  short:
    weights: {verification: 1}
    output: {structured: false}
    prose: [{max_length: 500}]
    retention: {payload_days: 7, keep_golden: false}
    review: {deadline_minutes: 525600, double_review: 0, honeypots: 0}
  kept:
    weights: {verification: 1}
    output: {structured: false}
    prose: [{max_length: 500}]
    retention: {payload_days: null}
"""


def is_erased(store: Marked, decision_id: str) -> bool:
    stored = store.run(store.services.ledger.decision("default", decision_id))
    return stored.answer is None


def decided(store: Marked, **fields: Any) -> str:
    """Return a decision that a person approved."""
    one = store.decide(**{"slice_key": "corrected", **fields})
    store.say(one)
    return one


@pytest.fixture
def dated(store: Marked) -> Marked:
    """Return a store whose policy keeps payloads for a while."""
    found = store.run(store.services.policies.propose(POLICY))
    store.run(store.services.policies.activate(found.policy.hash, by="ann"))
    return store


def test_each_slice_has_its_own_time(dated: Marked) -> None:
    """Payloads go when they are past their slice's time, by the policy, on record."""
    week = decided(dated, slice_key="short", output=MARK)
    month = decided(dated, output={"vendor": MARK})
    ever = decided(dated, slice_key="kept", output=MARK)
    all_of_them = (week, month, ever)
    seen = []
    for days in (6, 3, 25):
        dated.clock.advance(timedelta(days=days))
        dated.run(keeper(dated.services).run())
        seen.append([is_erased(dated, one) for one in all_of_them])
    assert seen == [[False] * 3, [True, False, False], [True, True, False]]
    first, _ = dated.run(dated.services.ledger.erasures("default"))
    policy = dated.run(dated.services.policies.active_hash())
    assert (first.by, first.decision_id) == ("policy", week)
    assert first.reason == f"kept for 7 days by policy {policy}"
    assert dated.run(dated.services.store.ledger.verify()).ok


def test_what_is_needed_stays_until_it_is_not(dated: Marked) -> None:
    """An open item is left alone, and goes in the run after it was decided."""
    waiting = dated.decide(slice_key="corrected", output={"vendor": MARK})
    dated.clock.advance(timedelta(days=40))
    found = dated.run(keeper(dated.services).run())
    by_slice = {one.slice_key: one for one in found.slices}
    assert (by_slice["corrected"].erased, by_slice["corrected"].kept) == (0, 1)
    assert by_slice["corrected"].held == {Hold.IN_QUEUE: 1}
    assert not is_erased(dated, waiting)
    dated.say(waiting)
    assert dated.run(keeper(dated.services).run()).erased == 1
    assert is_erased(dated, waiting)
    assert places_of(dated.services) == []


def _audited(store: Marked) -> str:
    """Make what acted alone and waits for its audit."""
    one = store.decide(output={"vendor": MARK})
    assert store.run(store.services.ledger.decision("default", one)).route == "auto_approve"
    return one


def _corrected(store: Marked) -> str:
    one = store.decide(slice_key="corrected", output={"vendor": "A"})
    store.say(one, action=Action.EDIT, edited={"vendor": MARK})
    return one


def _in_incident(store: Marked) -> str:
    one = _audited(store)
    for source in (OutcomeSource.AUDIT, OutcomeSource.INCIDENT):
        said = GivenAnswer(decision_id=one, action=Action.REJECT, by="ann", source=source)
        store.run(store.services.labeller.record("default", said))
    store.settle()
    return one


def _taken_back(store: Marked) -> str:
    """Make what was just decided, so that it can still be taken back."""
    one = store.decide(slice_key="corrected")
    store.clock.advance(timedelta(days=40))
    item = store.run(store.services.desk.claim(one, "ann"))
    said = Said(action=Action.APPROVE, by="ann", digest=item.digest)
    store.run(store.services.desk.decide(one, said))
    return one


@pytest.mark.parametrize(
    ("make", "days", "hold"),
    [
        (_audited, 40, Hold.AUDIT),
        (_corrected, 40, Hold.GOLDEN),
        (_in_incident, 40, Hold.INCIDENT),
        (_taken_back, 0, Hold.IN_QUEUE),
    ],
    ids=["audit", "golden set", "incident", "can be taken back"],
)
def test_each_need_holds(
    dated: Marked, make: Callable[[Marked], str], days: int, hold: Hold
) -> None:
    """What waits for its audit, belongs to the golden set or to an incident is kept, and counted.

    Looking first changes nothing and says the same.
    """
    one = make(dated)
    dated.clock.advance(timedelta(days=days))
    looked = dated.run(keeper(dated.services).look())
    done = dated.run(keeper(dated.services).run())
    assert looked == done
    assert not is_erased(dated, one)
    assert hold in {held for found in done.slices for held in found.held}


def test_the_golden_set_goes_where_the_policy_says_so(dated: Marked) -> None:
    """With `keep_golden: false` a correction goes with what it corrects."""
    one = dated.decide(slice_key="short", output=MARK)
    dated.say(one, action=Action.EDIT, edited=f"{MARK}, corrected")
    dated.clock.advance(timedelta(days=8))
    assert dated.run(keeper(dated.services).run()).erased == 1
    assert places_of(dated.services) == []


def test_a_comment_that_came_later_is_not_kept(dated: Marked) -> None:
    """What is said of a decision after it was erased counts, and none of its words are kept."""
    one = decided(dated, slice_key="short", output=MARK)
    dated.clock.advance(timedelta(days=8))
    assert dated.run(keeper(dated.services).run()).erased == 1
    given = {"decision_id": one, "action": Action.REJECT, "by": "bob", "comment": MARK}
    said = GivenAnswer(**given, source=OutcomeSource.INCIDENT)
    recorded = dated.run(dated.services.labeller.record("default", said))
    assert (recorded.correct, recorded.comment, recorded.words_erased) == (False, None, True)
    assert places_of(dated.services) == []


def test_a_comment_that_an_earlier_version_kept_goes_too(dated: Marked) -> None:
    """It goes with the next run in which nothing needs it."""
    one = decided(dated, slice_key="short", output=MARK)
    dated.clock.advance(timedelta(days=8))
    said = GivenAnswer(
        decision_id=one,
        action=Action.REJECT,
        by="bob",
        comment=MARK,
        source=OutcomeSource.INCIDENT,
    )
    dated.run(dated.services.labeller.record("default", said))
    dated.settle()
    take_payload(dated, one)
    incidents, ann = dated.services.store.incidents, {"by": "ann", "note": "paid back"}
    (opened,) = dated.run(incidents.list("default", only_open=True, slices=(), limit=9))
    assert dated.run(keeper(dated.services).run()).erased == 0
    assert places_of(dated.services) == ["payloads.answer"]
    dated.run(incidents.close("default", opened.id, at=dated.clock.now(), **ann))
    assert dated.run(keeper(dated.services).run()).erased == 1
    assert places_of(dated.services) == []


def test_a_policy_without_limits_erases_nothing() -> None:
    """Nothing is set by default: everything is kept for ever."""
    opened = Marked("sqlite://")
    opened.decide()
    opened.clock.advance(timedelta(days=4_000))
    done = opened.run(keeper(opened.services).run())
    assert (done.erased, done.sentence) == (0, "the policy keeps everything")
    opened.close()


def test_statistics_stay(dated: Marked) -> None:
    """Labels and counts are what they were, and follow from the ledger."""
    for _ in range(4):
        decided(dated)
    before = counts(dated)
    dated.clock.advance(timedelta(days=31))
    assert dated.run(keeper(dated.services).run()).erased == 4
    assert counts(dated) == before
    assert all(one.ok for one in dated.run(dated.services.store.derived.compare()))


def test_every_payload_is_looked_at_once(dated: Marked) -> None:
    """Over several pages and streams each decision comes once, with a comment or without."""
    store, moment = dated.services.store, dated.clock.now()
    keys = {"workspace": "default", "slice_key": "corrected", "created_at": moment}
    records = [record(number, **keys, vector=None, model_id=None) for number in range(LOOKED + 5)]

    async def write() -> None:
        await asyncio.gather(*(store.ledger.append(one) for one in records))

    dated.run(write())
    commented = GivenAnswer(decision_id="d7", action=Action.REJECT, by="bob", comment="no")
    dated.run(dated.services.labeller.record("default", commented))
    before, after, found = {"corrected": moment + timedelta(days=1)}, None, []
    while True:
        page = dated.run(store.erasures.past_due("default", before, after))
        found += [one.decision_id for one in page.found]
        after = page.after
        if after is None:
            break
    assert sorted(found) == sorted(one.id for one in records)
    elsewhere = dated.run(store.erasures.past_due("other", before, None))
    assert (elsewhere.found, elsewhere.after) == ((), None)
