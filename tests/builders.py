"""Short ways to build values in tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sureline.core.gate.judging import Judging
from sureline.core.gate.routing import Circumstances
from sureline.core.gate.stakes import AtStake
from sureline.core.gate.thresholds import Threshold
from sureline.core.values.certificate import Certificate, ErrorRate
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.policy import Mode, SlicePolicy
from sureline.core.values.proposal import Stakes
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.switch import Switch

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SECRET = b"a secret for tests"

KINDS = {
    "self_report": SignalKind.SELF_REPORT,
    "self_evaluation": SignalKind.JUDGE,
    "verification": SignalKind.DETERMINISTIC,
    "history": SignalKind.HISTORICAL,
    "judge": SignalKind.JUDGE,
}


def measured(name: str, value: float) -> Signal:
    return Signal.measured(name, KINDS[name], value)


def slice_policy(**changes: Any) -> SlicePolicy:
    defaults: dict[str, Any] = {
        "key": "invoices",
        "mode": Mode.ROUTE,
        "checks": ChecksPolicy(structured=False),
        "weights": {"verification": 1.0},
        "audit_rate": 0.0,
        "reject_audit_rate": 0.0,
    }
    return SlicePolicy(**{**defaults, **changes})


def around(**changes: Any) -> Circumstances:
    defaults: dict[str, Any] = {
        "threshold": Threshold(auto=0.9, reject=0.4, certificate="cert_1"),
        "at_stake": AtStake(stakes=Stakes.REVERSIBLE, always_human=False, action_class=None),
        "judging": Judging.NONE,
        "switches": (),
        "force_human": False,
        "attempt": 1,
        "secret": SECRET,
        "decision_id": "decision-1",
    }
    return Circumstances(**{**defaults, **changes})


def switch(scope: str = "global", by: str = "ada") -> Switch:
    return Switch(
        workspace="default", scope=scope, on=True, reason="incident", by=by, changed_at=NOW
    )


def certificate(**changes: Any) -> Certificate:
    defaults: dict[str, Any] = {
        "id": "cert_1",
        "workspace": "default",
        "slice_key": "invoices",
        "threshold": 0.9,
        "target": 0.95,
        "delta": 0.05,
        "error_rate": ErrorRate.PER_SLICE,
        "family_size": 1,
        "n": 400,
        "in_band": 200,
        "correct": 198,
        "coverage": 0.5,
        "lower_bound": 0.96,
        "method": "weighted_partition",
        "data_hash": "data",
        "policy_hash": "policy",
        "measurement_hash": "measurement",
        "issued_at": NOW,
    }
    return Certificate(**{**defaults, **changes})
