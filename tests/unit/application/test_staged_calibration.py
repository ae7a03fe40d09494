"""A calibration can hold for a share of the decisions first (L2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from sureline.application.holding import CALIBRATION
from sureline.application.ports.registry import Activation
from sureline.core.values.decision import Decision
from sureline.errors import InvalidInput, NotFound, Refused
from sureline.gate import Gate
from sureline.testing import MOMENT, FixedClock, temporary_gate
from tests.cases.told import ToldSignal, told, told_policy

POLICY = told_policy(hypothesis=None, audit_rate=0.0)
LABELS = 70
MANY = range(1_000, 1_200)


@dataclass(frozen=True, slots=True)
class World:
    """A gate with two calibrations, none active, and the certificate of each."""

    gate: Gate
    old: str
    new: str
    certificates: dict[str, str]

    def activate(self, calibration_id: str, share: float = 1.0) -> None:
        self.gate.run(self.gate.activate(calibration_id, by="Ada", share=share))

    def rollback(self) -> None:
        self.gate.run(self.gate.services.calibrations.rollback(by="Ada"))

    def decide(self, number: int) -> Decision:
        return self.gate.decide_sync(**told(0.97, output={"said": number}))

    def held(self) -> list[str]:
        """Return which calibration held for each of many new outputs: old, new or none."""
        names = {self.certificates[self.old]: "old", self.certificates[self.new]: "new"}
        found = [self.decide(number).certificate for number in MANY]
        return ["none" if one is None else names[one] for one in found]


@contextmanager
def opened() -> Iterator[World]:
    """Label outputs, calibrate, label more, and calibrate again."""
    with temporary_gate(POLICY, signals=[ToldSignal()], clock=FixedClock()) as gate:
        found = []
        for start, score in ((0, 0.95), (LABELS, 0.9)):
            for number in range(start, start + LABELS):
                made = gate.decide_sync(**told(score, output={"said": number}))
                gate.run(gate.record_outcome(made.id, action="approve", by="Ada"))
            found.append(gate.run(gate.recalibrate()))
        certificates = {
            one.id: one.slices[0].certificate.id for one in found if one.slices[0].certificate
        }
        old, new = certificates
        yield World(gate, old, new, certificates)


@pytest.fixture
def world() -> Iterator[World]:
    with opened() as made:
        yield made


def test_it_holds_for_its_share_and_the_earlier_one_for_the_others(world: World) -> None:
    """About a quarter of the outputs is decided by the new certificate, each on its own draw."""
    world.activate(world.old)
    world.activate(world.new, 0.25)
    held = world.held()
    assert set(held) == {"old", "new"}
    assert 0.17 <= held.count("new") / len(held) <= 0.33  # 2.6 standard deviations


def test_without_an_earlier_one_people_decide_on_the_others(world: World) -> None:
    """What is not drawn has no certificate, and nobody but a person approves it."""
    world.activate(world.new, 0.25)
    made = [world.decide(number) for number in MANY]
    assert {(one.certificate is None, one.approved) for one in made} == {
        (True, False),
        (False, True),
    }


def test_the_same_content_draws_the_same(world: World) -> None:
    """Submitting again is no second draw, and widening keeps who was drawn."""
    world.activate(world.old)
    world.activate(world.new, 0.25)
    first = world.held()
    assert world.held() == first
    world.activate(world.new, 0.5)
    wider = world.held()
    assert wider.count("new") > first.count("new")
    assert all(
        after == "new" for before, after in zip(first, wider, strict=True) if before == "new"
    )


def test_the_same_inputs_give_the_same_decisions() -> None:
    """Another store with the same secret draws the same."""

    def held() -> list[str]:
        with opened() as world:
            world.activate(world.old)
            world.activate(world.new, 0.25)
            return world.held()

    assert held() == held()


def test_it_is_completed_by_activating_it_again(world: World) -> None:
    """Then it holds for all, and what is beneath it is the earlier one."""
    world.activate(world.old)
    world.activate(world.new, 0.25)
    world.activate(world.new)
    assert set(world.held()) == {"new"}
    world.rollback()
    assert set(world.held()) == {"old"}


@pytest.mark.parametrize("earlier", [True, False], ids=["over another", "over none"])
def test_it_can_be_taken_back(world: World, earlier: bool) -> None:
    """Then what held before holds for all, even if that is nothing."""
    if earlier:
        world.activate(world.old)
    world.activate(world.new, 0.25)
    world.rollback()
    assert set(world.held()) == {"old" if earlier else "none"}
    with pytest.raises(Refused, match="no earlier calibration"):
        world.rollback()


def test_what_each_change_says(world: World) -> None:
    """It names what the others keep, and after a step back what went."""
    calibrations, run = world.gate.services.calibrations, world.gate.run
    told_of = [
        run(calibrations.activate(one, by="Ada", share=share))
        for one, share in ((world.old, 1), (world.new, 0.1), (world.new, 1), (world.new, 0.5))
    ]
    told_of.append(run(calibrations.rollback(by="Ada")))
    old, new = world.old, world.new
    assert [(one.before, one.after, one.share) for one in told_of] == [
        (None, old, 1),
        (old, new, 0.1),
        (old, new, 1),
        (old, new, 0.5),
        (new, old, 1),
    ]
    entries = run(world.gate.services.logbook.entries())
    notes = [one.note for one in entries if one.subject == new]
    assert notes == ["for 10 % of the decisions", "", "for 50 % of the decisions"]


@pytest.mark.parametrize(
    ("then", "usable"),
    [
        pytest.param("wait", {"old", "new"}, id="while both hold"),
        pytest.param("widen", {"old", "new"}, id="after widening"),
        pytest.param("complete", {"new"}, id="after completing"),
        pytest.param("take back", {"old"}, id="after taking it back"),
    ],
)
def test_an_approval_is_held_against_its_own_calibration(
    world: World, then: str, usable: set[str]
) -> None:
    """It may be used as long as the calibration that let it pass holds for some."""
    world.activate(world.old)
    world.activate(world.new, 0.25)
    made = {one.certificate: one for one in (world.decide(number) for number in MANY)}
    assert all(one.approved for one in made.values())
    match then:
        case "widen":
            world.activate(world.new, 0.5)
        case "complete":
            world.activate(world.new)
        case "take back":
            world.rollback()
    for name, calibration in (("old", world.old), ("new", world.new)):
        approval = made[world.certificates[calibration]]
        if name in usable:
            assert world.gate.run(world.gate.consume(approval.id)).id == approval.id
        else:
            with pytest.raises(Refused, match="has changed"):
                world.gate.run(world.gate.consume(approval.id))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(None, id="gone"),
        pytest.param(b"{", id="no JSON"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b'{"workspace": "other"}', id="of another workspace"),
        pytest.param(b'{"workspace": "default", "certificates": [{}]}', id="no certificate"),
    ],
)
def test_what_cannot_be_read_is_not_staged(world: World, body: bytes | None) -> None:
    """The earlier calibration holds for all."""
    world.activate(world.old)
    registry, run = world.gate.services.registry, world.gate.run
    if body is not None:
        run(
            registry.save_calibration(
                calibration_id="cal_odd", workspace="default", body=body, at=MOMENT
            )
        )
    run(
        registry.activate(
            Activation(
                workspace="default",
                kind=CALIBRATION,
                subject="cal_odd",
                by="Ada",
                at=MOMENT,
                share=0.9,
            )
        )
    )
    assert set(world.held()) == {"old"}


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01, float("nan")])
def test_a_share_is_above_nothing_and_at_most_all(world: World, share: float) -> None:
    """Anything else is refused, and changes nothing."""
    world.activate(world.old)
    with pytest.raises(InvalidInput, match="share"):
        world.activate(world.new, share)
    assert set(world.held()) == {"old"}


def test_what_is_not_there_cannot_be_staged(world: World) -> None:
    """Not even `none`, which only a rollback leads to."""
    with pytest.raises(NotFound):
        world.activate("none", 0.5)
