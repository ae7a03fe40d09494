"""The gate's answer to one proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.core.values.finding import Finding
from sureline.core.values.policy import Mode
from sureline.core.values.signal import Signal


class Route(StrEnum):
    """Where an output goes (G25)."""

    AUTO_APPROVE = "auto_approve"
    """It may act on its own."""
    HUMAN_REVIEW = "human_review"
    """A person looks at a pre-filled draft."""
    HUMAN_REQUIRED = "human_required"
    """A person must decide."""
    ABSTAIN = "abstain"
    """Too unsure even to propose a draft: a person starts from nothing."""
    AUTO_REJECT = "auto_reject"
    """Back to the agent with feedback; it may retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why: a stable machine-readable code and a sentence that never quotes the payload."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A route with everything that led to it (G31).

    `confidence` is the number that `threshold` was compared with: `composite`, or `calibrated`
    where the certificate says so or there is none; None when nothing was measured. `output` is
    what was decided on: the parsed value where the slice expects structure. `redacted` says by form
    how often something was replaced before it was kept.
    """

    id: str
    workspace: str
    slice_key: str
    route: Route
    reasons: tuple[Reason, ...]
    confidence: float | None
    composite: float | None
    calibrated: float | None
    extrapolated: bool
    threshold: float | None
    certificate: str | None
    uncertified: bool
    signals: tuple[Signal, ...]
    audit: bool
    mode: Mode
    would_route: Route | None
    policy: str
    measurement: str
    stakes: str
    action_class: str | None
    attempt: int
    sample_key: str
    attempts_left: int
    review_id: str | None
    variant: str | None
    created_at: datetime
    elapsed_ms: float
    output: Any
    feedback: tuple[Finding, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)

    @property
    def approved(self) -> bool:
        """Tell whether the output may act on its own."""
        return self.route is Route.AUTO_APPROVE
