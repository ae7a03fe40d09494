"""A guarded call runs once it was approved, with what was approved; waiting tells how it went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import Said
from sureline.core.review.opening import content_digest
from sureline.core.values.outcome import Action
from sureline.core.values.review import ReviewState
from sureline.errors import Refused
from sureline.gate import Gate
from sureline.testing import MOMENT, FixedClock, temporary_gate

POLICY = f"""\
version: 1
action_classes:
  payment: {{stakes: irreversible}}
slices:
  pay:
    mode: route
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
    review: {{undo_seconds: 0}}
"""
WAIT = 60.0


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def gate(clock: FixedClock) -> Iterator[Gate]:
    with temporary_gate(POLICY, clock=clock) as opened:
        yield opened


async def answer(gate: Gate, action: Action, edited: Any = None) -> str:
    """Let a person answer the first item that comes up; return its id."""
    desk = gate.services.desk
    while not (found := await desk.page(Wanted())):  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(0)
    (item,) = found
    await desk.decide(item.id, Said(action=action, by="ada", digest=item.digest, edited=edited))
    return item.id


def called(
    gate: Gate, action: Action, edited: Any = None, *, function: Callable[..., Any], **given: Any
) -> Any:
    """Call a guarded function while a person answers."""

    async def work() -> Any:
        guarded = gate.guard(slice_key="pay", action_class="payment", wait=WAIT)(function)
        task = asyncio.ensure_future(guarded(**given))
        await answer(gate, action, edited)
        return await task

    return gate.run(work())


async def pay(to: str, amount: int, *notes: str, **more: Any) -> tuple[Any, ...]:
    """Say what was paid."""
    return to, amount, notes, more


def test_a_call_waits_for_its_approval(gate: Gate) -> None:
    """It runs after the yes of a person, once, with its own arguments."""
    assert called(gate, Action.APPROVE, function=pay, to="Ada", amount=43) == ("Ada", 43, (), {})


def test_a_call_runs_as_it_was_edited(gate: Gate) -> None:
    """What a person makes of the arguments is what the function gets."""
    edited = {"to": "Ada", "amount": 44, "notes": ["x"], "more": {"cc": "kim"}}
    found = called(gate, Action.EDIT, edited, function=pay, to="Ada", amount=43)
    assert found == ("Ada", 44, ("x",), {"cc": "kim"})


@pytest.mark.parametrize(
    "edited", [{"to": "Ada"}, {"to": "Ada", "amount": 1, "notes": [], "more": {}, "fee": 2}]
)
def test_an_edit_that_is_no_call_runs_nothing(gate: Gate, edited: Any) -> None:
    """Arguments that the function does not have are refused, and it does not run."""
    with pytest.raises(Refused, match="not the arguments"):
        called(gate, Action.EDIT, edited, function=pay, to="Ada", amount=43)


def test_a_rejected_call_does_not_run(gate: Gate) -> None:
    """A no is Refused, naming the decision; without time to wait it is said at once."""
    with pytest.raises(Refused, match="pay was not approved"):
        called(gate, Action.REJECT, function=pay, to="Ada", amount=43)
    hurried = gate.guard(slice_key="pay", action_class="payment")(pay)
    with pytest.raises(Refused, match="not approved"):
        gate.run(hurried(to="Ada", amount=43))


def test_an_automatic_call_needs_nobody(gate: Gate) -> None:
    """What the gate approves runs, from code without an event loop too."""

    @gate.guard(slice_key="pay")
    def note(text: str, deep: dict[str, Any]) -> Any:
        return text, deep

    assert note("hello", {"n": 1}) == ("hello", {"n": 1})


def test_waiting_tells_what_was_released(gate: Gate, clock: FixedClock) -> None:
    """The answer carries its state, the outcome and the output; nothing before it is approved."""
    made = gate.decide_sync(
        slice_key="pay", task="pay", output={"amount": 43}, action_class="payment"
    )
    waiting = gate.run(gate.review(made.id, timeout=0))
    assert (waiting.approved, waiting.state, waiting.output) == (False, ReviewState.PENDING, None)
    gate.run(answer(gate, Action.EDIT, {"amount": 44}))
    found = gate.run(gate.review(made.id, timeout=0))
    assert (found.approved, found.output) == (True, {"amount": 44})
    assert found.outcome is not None
    assert found.outcome.content == content_digest({"amount": 44})
    assert gate.run(gate.consume(made.id, output={"amount": 44})).output == {"amount": 44}
    with pytest.raises(Refused, match="used before"):
        gate.run(gate.consume(made.id))


def test_nobody_waits_for_what_was_replaced(gate: Gate) -> None:
    """Another attempt ends the waiting: no answer will come."""
    given = {"slice_key": "pay", "task": "pay", "action_class": "payment"}
    first = gate.decide_sync(output={"amount": 43}, **given)
    gate.decide_sync(output={"amount": 44}, retry_of=first.id, **given)
    found = gate.run(gate.review(first.id, timeout=WAIT))
    assert (found.state, found.approved) == (ReviewState.SUPERSEDED, False)
    with pytest.raises(Refused, match="another attempt"):
        gate.run(gate.consume(first.id))


def test_an_approval_of_other_content_is_void(gate: Gate, clock: FixedClock) -> None:
    """Who means to use other content than was approved is refused, for good, and on record."""
    for more in ({"action_class": "payment"}, {}):
        made = gate.decide_sync(slice_key="pay", task=f"pay {more}", output={"n": 43}, **more)
        if not made.approved:
            gate.run(answer(gate, Action.APPROVE))
        with pytest.raises(Refused, match="not what was approved"):
            gate.run(gate.consume(made.id, output={"n": 430}))
        with pytest.raises(Refused):
            gate.run(gate.consume(made.id, output={"n": 43}))
        last = gate.run(gate.services.ledger.outcomes("default", made.id))[-1]
        assert (last.by, last.content) == ("content_mismatch", content_digest({"n": 430}))
        clock.advance(timedelta(seconds=1))
