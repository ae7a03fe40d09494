"""Some hours of traffic through a real gate whose judge, a server, is out for one of them."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from typing import Any

from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.client import PydanticAIClient
from sureline.application.ports.models import ModelLimits
from sureline.core.values.decision import Decision
from sureline.core.values.signal import Signal
from sureline.gate import Gate
from sureline.testing import FixedClock, temporary_gate
from tests.cases.told import ToldSignal, told, told_policy
from tests.model_servers import Asked, ModelServer, Say, Step

MODEL = "openai-chat:gpt-4o-mini"
_SAID = re.compile(r'"said":\s*(\d+)')
FIRST_ITEM = 1_000_000
"""Where the numbers of the traffic begin, after those of the labels."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """How much is decided: `each` outputs every `step` for `hours`; the judge is out in one.

    `labels` are given before, with the judge up. `limits` say how the judge is called.
    """

    hours: int = 3
    out: int = 1
    step: timedelta = timedelta(minutes=10)
    each: int = 12
    labels: int = 400
    otherwise: float = 0.08
    seed: int = 1
    limits: ModelLimits = field(
        default_factory=lambda: ModelLimits(seconds=2.0, retries=0, rest_seconds=60.0)
    )

    @property
    def steps(self) -> int:
        return int(timedelta(hours=self.hours) / self.step)

    def is_out(self, step: int) -> bool:
        """Tell whether the judge is out at the beginning of a step."""
        return int(step * self.step / timedelta(hours=1)) == self.out

    @property
    def policy(self) -> str:
        return told_policy(
            weights={"told": 0.8, "judge": 0.2},
            judge={"model": MODEL, "otherwise": self.otherwise, "borderline": 0.01},
            hypothesis=None,
            audit_rate=0.0,
            reject_audit_rate=0.0,
            target_precision=0.9,
        )


@dataclass(frozen=True, kw_only=True)
class Made:
    """A decision, the step in which it was made, and the seconds until it was there."""

    step: int
    decision: Decision
    seconds: float

    @property
    def judge(self) -> Signal:
        return next(one for one in self.decision.signals if one.name == "judge")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What became of the traffic; `reached` counts the requests that came to the server by step."""

    traffic: Traffic
    made: tuple[Made, ...]
    reached: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def automated(self) -> frozenset[str]:
        return frozenset(one.decision.id for one in self.made if one.decision.approved)

    def during(self, *, out: bool) -> Iterator[Made]:
        return (one for one in self.made if self.traffic.is_out(one.step) is out)

    @property
    def after(self) -> Iterator[Made]:
        """Yield what was decided after the outage."""
        last = max(n for n in range(self.traffic.steps) if self.traffic.is_out(n))
        return (one for one in self.made if one.step > last)


def run(traffic: Traffic, outage: Step | None) -> Run:
    """Send the traffic; in its hour of outage the server does `outage` (None: it goes on)."""
    clock = FixedClock()
    backoff = Backoff(sleep=lambda seconds: asyncio.sleep(0))
    client = PydanticAIClient(traffic.limits, clock, backoff=backoff)
    with (
        ModelServer(_judged) as server,
        _environment(server.variables),
        temporary_gate(
            traffic.policy, signals=[ToldSignal()], clock=clock, model_client=client
        ) as gate,
    ):
        _certify(gate, traffic)
        made, reached, seconds = [], [], []
        for step in range(traffic.steps):
            server.says = _judged if outage is None or not traffic.is_out(step) else _does(outage)
            came, began = len(server.asked), perf_counter()
            made += gate.run(_step(gate, traffic, step))
            seconds.append(perf_counter() - began)
            reached.append(len(server.asked) - came)
            clock.advance(traffic.step)
        gate.run(client.aclose())
    return Run(traffic=traffic, made=tuple(made), reached=tuple(reached), seconds=tuple(seconds))


def _does(outage: Step) -> Any:
    return lambda asked: outage


async def _step(gate: Gate, traffic: Traffic, step: int) -> list[Made]:
    async def one(number: int) -> Made:
        began = perf_counter()
        decision = await gate.decide(**_item(traffic, number))
        return Made(step=step, decision=decision, seconds=perf_counter() - began)

    first = FIRST_ITEM + step * traffic.each
    return await asyncio.gather(*(one(number) for number in range(first, first + traffic.each)))


def _item(traffic: Traffic, number: int) -> dict[str, Any]:
    score = round(random.Random(f"{traffic.seed} {number}").uniform(0.5, 1.0), 4)
    return told(score, output={"said": number}, id=f"d{number}")


def _is_right(traffic: Traffic, number: int) -> bool:
    """Tell whether an output is right: the more surely, the higher its score."""
    score = _item(traffic, number)["metadata"]["told"]
    return random.Random(f"right {traffic.seed} {number}").random() < min(1.0, score + 0.15)


def _certify(gate: Gate, traffic: Traffic) -> None:
    """Label outputs and make the certificate hold that follows."""
    for number in range(traffic.labels):
        made = gate.decide_sync(**_item(traffic, number))
        action = "approve" if _is_right(traffic, number) else "reject"
        gate.run(gate.record_outcome(made.id, action=action, by="Ada"))
    found = gate.run(gate.recalibrate())
    assert found.slices[0].certificate is not None, "these labels certify nothing"
    gate.run(gate.activate(found.id, by="Ada"))


def _judged(asked: Asked) -> Say:
    """Refute one output in ten, and agree with the others."""
    found = _SAID.search(asked.content)
    agrees = found is None or int(found[1]) % 10 != 0
    return Say(
        json.dumps(
            {
                "reason": "",
                "failure_mode": None if agrees else "wrong",
                "agrees": agrees,
                "confidence": 0.9,
            }
        )
    )


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
