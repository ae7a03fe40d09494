"""Stores filled with labelled past cases, and the proposals that benchmarks decide on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.storage.store import open_store
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.stratum import Fold, Stratum

SEED = 20261130
STRATUM = Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
POLICY = """\
version: 1
slices:
  invoices:
    mode: route
    weights: {weights}
    history: {{window: {window}}}
    output:
      json_schema:
        type: object
        required: [vendor, total, currency]
        properties:
          vendor: {{type: string}}
          total: {{type: number}}
          currency: {{enum: [EUR, USD]}}
    rules:
      - {{field: total, between: [1, 1000000], penalty: 0.3}}
    grounding: {{fields: [vendor]}}
"""


def policy_text(window: int) -> str:
    """Return the benchmark's policy; history counts only where there is a window."""
    weights = "{verification: 0.7, history: 0.3}" if window else "{verification: 1}"
    return POLICY.format(weights=weights, window=max(window, 100))


def proposal(number: int) -> dict[str, Any]:
    """Return a usual proposal: an invoice of about 500 characters."""
    vendor = f"Vendor {number % 97}"
    lines = "\n".join(f"{item}. article {number * item % 1013}  {item}.50" for item in range(12))
    return {
        "slice_key": "invoices",
        "task": "Extract vendor, total and currency of this invoice.",
        "output": {"vendor": vendor, "total": 10 + number % 5000, "currency": "EUR"},
        "source": f"{vendor}\nInvoice {number}\n{lines}\nTotal {10 + number % 5000}.00 EUR",
    }


def fill(url: str, cases: int) -> None:
    """Write `cases` labelled decisions with random unit vectors into a new store."""
    asyncio.run(_fill(url, cases))


async def _fill(url: str, cases: int) -> None:
    store = open_store(url)
    embedder = HashingEmbedder()
    draw = np.random.default_rng(SEED)
    for first in range(0, cases, 2000):
        size = min(2000, cases - first)
        vectors = draw.standard_normal((size, embedder.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        records = [
            _record(first + row, vectors[row].tobytes(), embedder.model_id) for row in range(size)
        ]
        await asyncio.gather(*(store.ledger.append(record) for record in records))
        await asyncio.gather(
            *(store.ledger.record_outcome(_outcome(record.id)) for record in records)
        )
    store.close()


def _record(number: int, vector: bytes, model_id: str) -> DecisionRecord:
    return DecisionRecord(
        id=f"past-{number}",
        workspace="default",
        slice_key="invoices",
        route="human_review",
        would_route=None,
        mode="log_only",
        score=0.5,
        score_bin=5000,
        audit=False,
        failed=False,
        submitted_by=None,
        propensity=1.0,
        attempt=1,
        stratum=STRATUM,
        policy_hash="p",
        measurement_hash="m",
        batch_id=None,
        content_digest=b"c" * 32,
        task_digest=number.to_bytes(32, "big"),
        created_at=NOW,
        body=b"{}",
        answer=b"{}",
        request=b"{}",
        vector=vector,
        model_id=model_id,
    )


def _outcome(decision_id: str) -> Outcome:
    return Outcome(
        id=f"o-{decision_id}",
        workspace="default",
        decision_id=decision_id,
        action=Action.APPROVE,
        correct=True,
        source=OutcomeSource.REVIEW,
        by="benchmark",
        anchored=False,
        recorded_at=NOW,
    )
