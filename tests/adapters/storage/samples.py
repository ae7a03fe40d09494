"""Records, outcomes and switches for the tests of the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sureline.application.ports.ledger import DecisionRecord
from sureline.core.canonical import json_bytes
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.stratum import Fold, Stratum
from sureline.core.values.switch import Switch

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
MODEL = "hashing/1"
MEASUREMENT = "m" * 64
TASK = b"t" * 32


def stratum(**changes: Any) -> Stratum:
    """Make the stratum of a first attempt that a person reviews."""
    values: dict[str, Any] = {
        "attempt": 1,
        "propensity": 1.0,
        "representative": True,
        "judged": False,
        "fold": Fold.HOLD,
    }
    return Stratum(**{**values, **changes})


def record(number: int | str = 1, **changes: Any) -> DecisionRecord:
    """Make a decision whose digests follow from its number."""
    values: dict[str, Any] = {
        "id": f"d{number}",
        "workspace": "default",
        "slice_key": "invoices",
        "route": "human_review",
        "would_route": None,
        "mode": "route",
        "score": 0.9,
        "score_bin": 5878,
        "audit": False,
        "failed": False,
        "submitted_by": None,
        "propensity": 1.0,
        "attempt": 1,
        "stratum": stratum(),
        "policy_hash": "p" * 64,
        "measurement_hash": MEASUREMENT,
        "batch_id": None,
        "content_digest": f"content {number}".encode().ljust(32, b"."),
        "task_digest": TASK,
        "created_at": NOON,
        "body": b'{"score": 0.9}',
        "answer": b'{"output": {"vendor": "Acme"}}',
        "request": b'{"task": "Extract"}',
        "vector": bytes(range(64)),
        "model_id": MODEL,
    }
    return DecisionRecord(**{**values, **changes})


def outcome(name: str = "o1", decision_id: str = "d1", **changes: Any) -> Outcome:
    """Make an approval by a reviewer."""
    values: dict[str, Any] = {
        "id": name,
        "workspace": "default",
        "decision_id": decision_id,
        "action": Action.APPROVE,
        "correct": True,
        "source": OutcomeSource.REVIEW,
        "by": "kim",
        "anchored": True,
        "recorded_at": NOON + timedelta(hours=1),
    }
    return Outcome(**{**values, **changes})


def switch(scope: str = "global", *, on: bool = True, **changes: Any) -> Switch:
    """Make a switch row."""
    values: dict[str, Any] = {
        "workspace": "default",
        "scope": scope,
        "on": on,
        "reason": "incident 7",
        "by": "kim",
        "changed_at": NOON,
    }
    return Switch(**{**values, **changes})


CARD = {
    "asked": "openai:small", "model": "small-2026", "input_tokens": 900, "output_tokens": 40,
    "cost": 0.0012, "ms": 800, "calls": 1,
}  # fmt: skip


def judged_body(value: float | None, reason: str | None = None, **detail: Any) -> bytes:
    """Write a decision's lasting JSON with a judge's signal: measured, or failed for a reason."""
    judge = {
        "state": "failed" if value is None else "measured",
        "value": value,
        "kind": "judge",
        "reason": reason,
        "detail": {**CARD, **detail},
    }
    return json_bytes({"composite": 0.9, "reasons": [], "signals": {"judge": judge}})
