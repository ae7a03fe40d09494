"""A slice with past cases that people answered, and embedders that a case needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.application.ports.embedder import Embedder
from sureline.bootstrap import Plugins
from sureline.gate import Gate
from sureline.testing import MOMENT, FixedClock
from tests.cases.doors import Answer, ask

K = 4
POLICY = f"""\
version: 1
defaults:
  mode: route
  attempts: 20
  reject_audit_rate: 0
  weights: {{verification: 0.5, history: 0.5}}
  hypothesis: {{auto: 0.9, reject: 0.2, allow_uncertified: true, starts: {MOMENT.date()}}}
slices:
  payments:
    history: {{neighbours: {K}, fields: [vendor, amount]}}
  letters:
    history: {{neighbours: {K}}}
"""

VENDORS = ("Brandt Logistik GmbH", "Oyelaran Foods Ltd", "Sato Printing KK")
AMOUNTS = (112.5, 980, 4711, 23.1)


class MarkedEmbedder(HashingEmbedder):
    """The built-in embedder under another model's name."""

    def __init__(self, model_id: str, dimension: int) -> None:
        super().__init__(dimension)
        self.model_id = f"{model_id}:{dimension}"


class BrokenEmbedder:
    """Gives the same row for every text, or raises."""

    model_id = "broken"

    def __init__(self, gives: Sequence[float] | Exception) -> None:
        self.gives = gives
        self.dimension = 3 if isinstance(gives, Exception) else len(gives)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(self.gives, Exception):
            raise self.gives
        return np.array([self.gives] * len(texts), dtype=np.float32)


def plugins(embedder: Embedder | None = None) -> Plugins:
    return Plugins(clock=FixedClock(), embedder=embedder)


def open_gate(
    folder: Path, *, embedder: Embedder | None = None, workspace: str = "default"
) -> Gate:
    """Open a gate on the store in a folder; the first opening makes it."""
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    store = f"sqlite:///{folder / 'store.db'}"
    return Gate.open(policy, store=store, workspace=workspace, plugins=plugins(embedder))


def payment(vendor: str = VENDORS[0], amount: float = 77.7, **more: Any) -> dict[str, Any]:
    """Return a proposal; its vendor and amount are what is compared."""
    output = {"vendor": vendor, "amount": amount}
    return {"slice_key": "payments", "task": "Pay the invoice", "output": output, **more}


def teach(gate: Gate, action: str = "approve") -> list[str]:
    """Let a person answer twelve payments of three vendors; return the decisions' ids."""
    taught = []
    for vendor in VENDORS:
        for amount in AMOUNTS:
            answer = ask(gate, payment(vendor, amount))
            gate.run(gate.record_outcome(answer["id"], action=action, by="Ada"))
            taught.append(answer["id"])
    return taught


def history(answer: Answer) -> tuple[str, str | None]:
    """Return the state and reason of the signal `history`."""
    signal = answer["signals"]["history"]
    return signal["state"], signal["reason"]
