"""Check an edited output as outputs are checked: an edit can break a schema too (R3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.review.item import ReviewItem
from sureline.core.checks.result import Validator
from sureline.core.checks.verification import verify
from sureline.core.values.finding import Finding
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import SourceText
from sureline.core.values.signal import Signal
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """What the checks make of an edit: its parsed `output`, whether it is `fatal`, their signal.

    `signal` is None where the slice has left the policy: then nothing was checked.
    """

    output: Any
    fatal: bool
    signal: Signal | None

    @property
    def score(self) -> float | None:
        """Return the score in [0, 1], None where nothing could be checked."""
        return None if self.signal is None else self.signal.value

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what the checks found."""
        return () if self.signal is None else self.signal.findings

    def refusal(self) -> InvalidInput:
        """Return the error that says, field by field, why the edit cannot be used."""
        fatal = [one for one in self.findings if one.fatal]
        return InvalidInput(
            f"the edited output cannot be used: {'; '.join(one.message for one in fatal)}",
            field="edited",
            faults={one.field: one.message for one in fatal if one.field},
        )


def recheck(
    item: ReviewItem,
    edited: Any,
    policy: SlicePolicy | None,
    *,
    validators: Mapping[str, Validator],
    now: datetime,
) -> Recheck:
    """Run the slice's checks on an edit; a slice that has left the policy has none."""
    if policy is None:
        return Recheck(output=edited, fatal=False, signal=None)
    checked = verify(
        edited,
        policy=policy.checks,
        task=item.task,
        source=tuple(
            SourceText(ref=one["ref"], text=one["text"], trusted=one["trusted"])
            for one in item.source
        ),
        now=now,
        validator=validators.get(policy.checks.model or ""),
    )
    return Recheck(
        output=checked.output, fatal=checked.fatal or checked.parse_failed, signal=checked.signal
    )
