"""Score what somebody edited anew, so that the next person is shown no figures of another text.

Checks are run again. Second opinions, history and what the agent said were of the output before the
edit: they stay in sight, marked as such, and count for nothing. No threshold was made for what the
checks say alone, so none is shown beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sureline.application.encode import finding_json, signal_json
from sureline.application.review.item import ReviewItem
from sureline.application.review.recheck import recheck
from sureline.core.checks.result import Validator
from sureline.core.gate.composition import VERIFICATION, assess
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal, SignalKind

BEFORE_EDIT = "before_edit"
"""Marks, in a signal of an edited output, that it was measured on the output before the edit."""


def rescored(
    item: ReviewItem,
    policy: SlicePolicy | None,
    *,
    validators: Mapping[str, Validator],
    now: datetime,
) -> ReviewItem:
    """Return an item whose output somebody edited with what the checks of now say of it.

    The composite is that of what could be measured again, None where that has no weight; nothing
    is calibrated and nothing compared with a threshold. A blind item has no view to correct.
    """
    if item.is_blind:
        return item
    checked = recheck(item, item.output, policy, validators=validators, now=now)
    signal = checked.signal or Signal.not_applicable(
        VERIFICATION, SignalKind.DETERMINISTIC, "slice_left_policy"
    )
    assessed = None if policy is None else assess([signal], policy, unreadable=checked.fatal)
    composite = None if assessed is None else assessed.composite
    before: dict[str, Any] = {
        name: {**one, BEFORE_EDIT: True} for name, one in item.decision.get("signals", {}).items()
    }
    found = [finding_json(one) for one in checked.findings]
    said = {k: v for k, v in item.decision.get("findings", {}).items() if k != VERIFICATION}
    anew = {
        "signals": {**before, VERIFICATION: {**signal_json(signal), BEFORE_EDIT: False}},
        "feedback": found,
        "findings": {**said, VERIFICATION: found} if found else said,
        "composite": composite,
        "calibrated": None,
        "extrapolated": False,
        "confidence": composite,
        "threshold": None,
        "certificate": None,
    }
    return replace(item, decision={**item.decision, **anew}, is_rescored=True)
