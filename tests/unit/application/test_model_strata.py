"""What another model measured, the certificate of the first says nothing about (G20, L5)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sureline.application.logbook import Change
from sureline.application.models_seen import MODEL, ModelWatch
from sureline.application.ports.registry import Activation
from sureline.application.simulate import Change as Tried
from sureline.application.simulate import Simulator
from sureline.bootstrap import Plugins, open_services
from sureline.core.values.decision import Decision
from sureline.errors import Refused, StoreError
from sureline.gate import Gate
from sureline.testing import MOMENT, FakeModels, FixedClock, PinnedSampling
from tests.answering import JUDGE, LABELS, World, answering, answering_policy
from tests.cases.told import ToldSignal, told

HOUR = timedelta(hours=1)
CHANGED = "another model answers now than when the certificate was issued"


@pytest.fixture
def world() -> Iterator[World]:
    with answering() as made:
        yield made


@pytest.fixture
def sampled() -> Iterator[World]:
    """Yield a world whose judge sees half of the outputs, certified for the model A."""
    with answering(answering_policy(otherwise=0.5)) as made:
        made.certify()
        yield made


def messages(decision: Decision) -> str:
    return " ".join(one.message for one in decision.reasons if one.code == "no_certificate")


def test_the_first_model_seen_is_the_one_that_is_meant() -> None:
    """Its first answer changes no measurement, and labels from before still certify."""
    with answering(answering_policy(otherwise=0.5)) as world:
        before = world.unjudged()
        world.label()
        assert world.judged().measurement == before.measurement
        assert world.activate() is not None
        assert world.decide().approved


def test_another_model_ends_the_certificate_from_its_very_first_answer_on(world: World) -> None:
    """That decision has another measurement and no certificate, and says so in plain words."""
    world.certify()
    before = world.decide()
    assert before.approved
    world.model = "B"
    after = world.decide()
    assert not after.approved
    assert after.certificate is None
    assert after.calibrated is None
    assert after.measurement != before.measurement
    assert CHANGED in messages(after)


def test_labels_of_the_other_model_count_apart_and_certify_it(world: World) -> None:
    """The new model starts without a label; its own labels certify it, and only it."""
    world.certify()
    world.model = "B"
    world.decide()
    found = world.gate.run(world.gate.recalibrate())
    assert found.given == {"told": 0}
    world.certify()
    assert world.decide().approved
    world.clock.advance(2 * HOUR)
    world.model = "A"
    assert not world.decide().approved


def test_the_first_model_restores_the_first_measurement(world: World) -> None:
    """When it answers again, its certificate and maps hold again, in that very decision."""
    world.certify()
    before = world.decide()
    world.model = "B"
    world.decide()
    world.clock.advance(2 * HOUR)
    world.model = "A"
    after = world.decide()
    assert after.approved
    assert (after.measurement, after.calibrated) == (before.measurement, before.calibrated)


def test_an_upgrade_that_makes_it_bad_automates_nothing(world: World) -> None:
    """A model that fell from .78 to .12 behind the same name is never automated on old labels."""
    world.certify()
    world.model = "upgraded"
    made = []
    for number in range(3 * LABELS):
        one = world.decide()
        made.append(one)
        action = "approve" if number % 9 == 0 else "reject"
        world.gate.run(world.gate.record_outcome(one.id, action=action, by="Ada"))
        if number % LABELS == 0:
            world.activate()
    assert not any(one.approved for one in made)
    assert world.activate() is None


def test_what_was_not_judged_counts_as_measured_by_the_model_seen_last(sampled: World) -> None:
    """An output that no judge saw is not automated on the certificate of a judge that is gone."""
    assert sampled.unjudged().approved
    sampled.model = "B"
    seen = sampled.judged()
    after = sampled.unjudged()
    assert not after.approved
    assert after.measurement == seen.measurement
    assert CHANGED in messages(after)


def test_two_models_that_take_turns_do_not_fill_the_ledger(sampled: World) -> None:
    """In ten hours of turns there is a note an hour at most, and none automates on the other's."""
    for turn in range(100):
        sampled.clock.advance(HOUR / 10)
        sampled.model = "AB"[turn % 2]
        judged = sampled.judged()
        assert judged.approved == (sampled.model == "A")
        assert sampled.unjudged().approved == (sampled.model == "A")
    moments = [one.at for one in sampled.notes()][1:]
    assert len(moments) <= 11
    assert all(b - a >= HOUR for a, b in pairwise(moments))


def test_a_kept_reply_does_not_say_who_answers_now(sampled: World) -> None:
    """It is held to the model that gave it then, but the latest is who answered last."""
    sampled.clock.advance(HOUR)
    sampled.model = "B"
    sampled.judged()
    sampled.clock.advance(2 * HOUR)
    sampled.model, sampled.kept = "A", True
    assert sampled.judged().approved
    assert not sampled.unjudged().approved
    assert [one.note for one in sampled.notes()][-1] == f"B answers as {JUDGE}, instead of A"


def test_decisions_at_once_note_a_change_once(world: World) -> None:
    """Also from two event loops, of which a gate serves as many as there are."""

    async def many() -> None:
        await asyncio.gather(
            *(world.gate.decide(**told(0.9, output={"at once": n})) for n in range(8))
        )

    world.gate.run(many())
    assert len(world.notes()) == 1
    world.model = "B"
    asyncio.run(many())
    world.model = "A"
    world.clock.advance(2 * HOUR)
    world.gate.run(many())
    assert [one.subject for one in world.notes()] == [
        f'["{JUDGE}", "{model}"]' for model in ("A", "B", "A")
    ]


def test_a_note_from_the_future_silences_nothing(world: World) -> None:
    """A clock that was wrong once does not hide the next change."""
    world.decide()
    for model, ahead in (("B", 9000 * HOUR), ("A", timedelta(0))):
        world.clock.advance(ahead)
        world.model = model
        world.decide()
    world.clock.moment = MOMENT
    world.model = "C"
    world.decide()
    assert [one.subject for one in world.notes()][-1] == f'["{JUDGE}", "C"]'


def test_a_change_is_seen_by_every_process(tmp_path: Path) -> None:
    """What one process saw holds for the next decision of another, although it asked nobody."""
    clock = FixedClock()
    client = FakeModels(says=lambda prompt, asking: first.says(prompt, asking))
    plugins = Plugins(signals=[ToldSignal()], clock=clock, model_client=client)

    def opened() -> World:
        store = f"sqlite:///{tmp_path / 'store.db'}"
        return World(Gate(PinnedSampling().pin(open_services(store, plugins=plugins))), clock)

    first, second = opened(), opened()
    with first.gate, second.gate:
        first.gate.run(first.gate.services.policies.introduce(answering_policy(otherwise=0.5)))
        first.certify()
        assert second.unjudged().approved
        first.model = "B"
        seen = first.judged()
        after = second.unjudged(task="Say it again")
        assert not after.approved
        assert after.measurement == seen.measurement


class Failing:
    """A registry that cannot be written to as long as `broken` says."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.broken = inner, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def activate(self, activation: Activation) -> None:
        if self.broken:
            raise StoreError("the disk is full")
        await self._inner.activate(activation)


def test_a_note_that_cannot_be_written_is_written_later(sampled: World) -> None:
    """The decision stands, this process knows already, and another answer writes the note."""
    services = sampled.gate.services
    registry = Failing(services.registry)
    watch = ModelWatch(registry=registry, clock=sampled.clock, workspace="default")
    sampled.gate.services = replace(services, decider=replace(services.decider, models=watch))
    sampled.clock.advance(timedelta(seconds=1))
    sampled.model = "B"
    assert not sampled.judged().approved
    assert len(sampled.notes()) == 1
    assert not sampled.unjudged().approved
    registry.broken = False
    sampled.judged()
    assert len(sampled.notes()) == 2


def test_a_change_that_was_never_written_down_is_found_anew(sampled: World) -> None:
    """A process that dies before its note delays it: the next one notes its own first answer."""
    services = sampled.gate.services
    watch = ModelWatch(registry=services.registry, clock=sampled.clock, workspace="default")
    sampled.gate.services = replace(services, decider=replace(services.decider, models=watch))
    sampled.model = "B"
    assert not sampled.judged().approved
    assert [one.note for one in sampled.notes()][-1] == f"B answers as {JUDGE}, instead of A"


def test_an_approval_from_before_a_change_cannot_be_used(sampled: World) -> None:
    """Neither one that was judged by the model before nor one that was not judged."""
    before = [sampled.judged(), sampled.unjudged()]
    assert all(one.approved for one in before)
    sampled.clock.advance(timedelta(seconds=1))
    sampled.model = "B"
    sampled.judged()
    for one in before:
        with pytest.raises(Refused, match="has changed"):
            sampled.gate.run(sampled.gate.consume(one.id))


def test_an_approval_of_the_certified_model_while_two_take_turns_can_be_used(
    sampled: World,
) -> None:
    """It was measured by the model that the certificate is about, after the change was known."""
    sampled.model = "B"
    sampled.judged()
    sampled.clock.advance(timedelta(minutes=1))
    sampled.model = "A"
    made = sampled.judged()
    assert made.approved
    assert sampled.gate.run(sampled.gate.consume(made.id)).id == made.id


@pytest.mark.parametrize(
    ("claimed", "approved"),
    [("p:gen", True), ("gen-2026-01-01", True), ("p:other", False), ("\x00" * 100, False)],
    ids=["the policy's", "the same by another name", "another", "nonsense"],
)
def test_the_certificate_is_for_the_generator_of_the_policy(claimed: str, approved: bool) -> None:
    """An output that says it is another model's is not automated, and leaves no trace in notes."""
    with answering(answering_policy(generator={"model": "p:gen"})) as world:
        world.certify()
        noted = len(world.notes())
        made = world.decide(generator={"model": claimed})
        assert made.approved == approved
        assert approved or "another generator than the policy names" in messages(made)
        assert len(world.notes()) == noted
        assert world.decide().approved


def test_claimed_generators_make_one_stratum(world: World) -> None:
    """An agent that names a new one each time makes no strata without end."""
    with answering(answering_policy(generator={"model": "p:gen"})) as made:
        found = {made.decide(generator={"model": f"g{n}"}).measurement for n in range(5)}
        assert len(found) == 1
        assert made.decide().measurement not in found


def test_a_hypothesis_from_before_says_nothing_about_another_model() -> None:
    """It is a guess about the model of then; one that is stated afterwards holds."""
    stated = {"auto": 0.8, "allow_uncertified": True, "starts": str(MOMENT.date())}
    with answering(answering_policy(hypothesis=stated)) as world:
        assert world.decide().approved
        world.model = "B"
        assert not world.decide().approved
        world.clock.advance(timedelta(days=1))
        assert not world.decide().approved
        again = {**stated, "starts": str(world.clock.now().date())}
        book = world.gate.services.policies
        loaded = world.gate.run(book.propose(answering_policy(hypothesis=again)))
        world.gate.run(book.activate(loaded.policy.hash, by="Ada"))
        assert world.decide().approved


def test_calibrations_of_two_models_are_two(world: World) -> None:
    """Without a label each, they would else have one id and two contents."""
    world.decide()
    first = world.gate.run(world.gate.recalibrate())
    world.model = "B"
    world.decide()
    second = world.gate.run(world.gate.recalibrate())
    assert first.id != second.id


def test_a_replay_does_not_certify_by_labels_of_another_model(world: World) -> None:
    """It says how many decisions were measured otherwise, and finds no threshold."""
    world.label()
    world.model = "B"
    world.decide()
    services = world.gate.services
    simulator = Simulator(
        ledger=services.ledger,
        registry=services.registry,
        policies=services.policies,
        clock=world.clock,
        secret=b"pinned for tests",
        workspace="default",
    )
    (found,) = world.gate.run(simulator.simulate(Tried()))
    assert found.gaps.other_models == LABELS
    assert found.threshold_from == "none"


def test_the_guard_watches_what_the_model_of_now_measured() -> None:
    """What was audited of the one before says nothing for or against the one that answers now."""
    with answering(answering_policy(audit_rate=1.0)) as world:
        world.certify()
        made = world.decide()
        assert made.audit
        world.gate.run(
            world.gate.record_outcome(made.id, action="approve", by="Ada", source="audit")
        )

        def audited() -> int:
            (watch,) = world.gate.run(world.gate.services.watcher.watch()).slices
            return watch.guard.labels

        assert audited() == 1
        world.model = "B"
        world.decide()
        assert audited() == 0


def test_report_and_logbook_say_it_in_plain_words(world: World) -> None:
    """Which model answers in place of which, since when, and what follows."""
    world.certify()
    world.model = "B"
    world.decide()
    report = world.gate.run(world.gate.services.reporter.report())
    assert (
        f"Another model answers as {JUDGE} since 2026-01-05 09:00 UTC: B instead of A."
        in (report.notes[0])
    )
    entries = world.gate.run(world.gate.services.logbook.entries())
    told = [(one.subject, one.note) for one in entries if one.change is Change.MODEL]
    assert told == [
        (JUDGE, f"A answers as {JUDGE}, first seen"),
        (JUDGE, f"B answers as {JUDGE}, instead of A"),
    ]


def test_a_damaged_note_leaves_it_to_people(world: World) -> None:
    """If it cannot be read which model answered, no certificate holds."""
    world.certify()
    note = Activation(
        workspace="default", kind=MODEL, subject="]", by="?", at=world.clock.now(), note=""
    )
    world.gate.run(world.gate.services.registry.activate(note))
    assert not world.decide().approved


def test_the_ledger_still_verifies(world: World) -> None:
    """Notes of models are rows of the chain like any other."""
    world.certify()
    world.model = "B"
    world.label(3)
    services = world.gate.services
    chain = world.gate.run(services.store.ledger.verify())
    assert chain.ok
    assert all(one.ok for one in world.gate.run(services.store.derived.compare()))
