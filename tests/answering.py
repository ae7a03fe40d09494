"""A slice whose judge is a model that answers under whatever id the test wants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sureline.application.models_seen import MODEL
from sureline.application.ports.models import Asking, Prompt, Reply
from sureline.application.ports.registry import Activation
from sureline.core.values.decision import Decision
from sureline.core.values.model_card import Usage
from sureline.errors import ModelFailed
from sureline.gate import Gate
from sureline.testing import FakeModels, FixedClock, temporary_gate
from tests.cases.told import ToldSignal, told, told_policy

JUDGE = "p:judge"
AGREES = json.dumps({"reason": "", "failure_mode": None, "agrees": True, "confidence": 0.9})
LABELS = 70
"""Labels without an error that certify a threshold."""


def answering_policy(otherwise: float = 1.0, **more: Any) -> str:
    """Return a policy whose judge sees a share of the outputs; nothing but labels automates."""
    settings: dict[str, Any] = {
        "weights": {"told": 0.8, "judge": 0.2},
        "judge": {"model": JUDGE, "otherwise": otherwise, "borderline": 0.0},
        "hypothesis": None,
        "audit_rate": 0.0,
        "reject_audit_rate": 0.0,
    }
    return told_policy(**{**settings, **more})


@dataclass(slots=True)
class World:
    """A gate, and the id under which its judge answers now (None: it does not)."""

    gate: Gate
    clock: FixedClock
    model: str | None = "A"
    kept: bool = False
    """Whether replies come from a cache."""
    _number: int = field(default=0)

    def says(self, prompt: Prompt, asking: Asking) -> Reply:
        if self.model is None:
            raise ModelFailed("unreachable")
        return Reply(text=AGREES, model=self.model, usage=Usage(cached=self.kept))

    def decide(self, score: float = 0.97, **more: Any) -> Decision:
        """Decide about an output that was never seen before."""
        self._number += 1
        return self.gate.decide_sync(**told(score, output={"said": self._number}, **more))

    def unjudged(self, **more: Any) -> Decision:
        """Decide until an output is not drawn for the judge."""
        while (made := self.decide(**more)).signals[-1].is_measured:
            pass
        return made

    def judged(self, **more: Any) -> Decision:
        """Decide until an output is drawn for the judge."""
        while not (made := self.decide(**more)).signals[-1].is_measured:
            pass
        return made

    def label(self, count: int = LABELS, *, correct: bool = True, **more: Any) -> None:
        for _ in range(count):
            made = self.decide(**more)
            action = "approve" if correct else "reject"
            self.gate.run(self.gate.record_outcome(made.id, action=action, by="Ada"))

    def activate(self) -> str | None:
        """Recalibrate and make the result hold; return the certificate's id."""
        found = self.gate.run(self.gate.recalibrate())
        self.gate.run(self.gate.activate(found.id, by="Ada"))
        certificate = found.slices[0].certificate
        return None if certificate is None else certificate.id

    def certify(self) -> None:
        """Give the labels that certify the model of now."""
        self.label()
        assert self.activate() is not None

    def notes(self) -> list[Activation]:
        """Return what was written down about models."""
        registry = self.gate.services.registry
        return list(self.gate.run(registry.activations(self.gate.workspace, MODEL)))


@contextmanager
def answering(policy: str | None = None, **plugins: Any) -> Iterator[World]:
    """Yield a world on a store in memory."""
    clock = FixedClock()
    client = FakeModels(says=lambda prompt, asking: world.says(prompt, asking))
    with temporary_gate(
        policy or answering_policy(),
        signals=[ToldSignal()],
        clock=clock,
        model_client=client,
        **plugins,
    ) as gate:
        world = World(gate=gate, clock=clock)
        yield world
