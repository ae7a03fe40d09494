"""A run of the canaries as JSON: what the ledger keeps and what programs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sureline.core.opinions.canary import FailureMode
from sureline.core.opinions.canary_run import CanaryRun, CanaryScore, Evaluator


def run_record(run: CanaryRun) -> dict[str, Any]:
    """Return everything of a run as JSON values; no text of a canary is among them."""
    return {
        "id": run.id,
        "identity": run.identity,
        "seed": run.seed,
        "line": run.line,
        "at": run.at.isoformat(),
        "evaluator": asdict(run.evaluator),
        "answers": list(run.answers),
        "scores": [asdict(one) for one in run.scores],
    }


def run_from_record(record: Mapping[str, Any]) -> CanaryRun:
    """Read what `run_record` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    return CanaryRun(
        id=record["id"],
        identity=record["identity"],
        seed=record["seed"],
        line=record["line"],
        at=datetime.fromisoformat(record["at"]),
        evaluator=Evaluator(**record["evaluator"]),
        answers=tuple(record["answers"]),
        scores=tuple(_score(one) for one in record["scores"]),
    )


def _score(record: Mapping[str, Any]) -> CanaryScore:
    mode = record["mode"]
    return CanaryScore(**{**record, "mode": None if mode is None else FailureMode(mode)})
