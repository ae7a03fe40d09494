"""Read past decisions for a replay, and tell what a replay cannot measure again (L7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sureline.application.encode import decode, splice
from sureline.application.ports.ledger import PastDecision
from sureline.core.gate.stakes import settle_stakes
from sureline.core.learning.replay import Recorded
from sureline.core.values.decision import Decision, Route
from sureline.core.values.policy import Mode, Policy
from sureline.core.values.proposal import Proposal, Stakes
from sureline.core.values.stratum import Fold

_SETTINGS = {
    "verification": ("grounding", "output", "prose", "reading", "rules", "verification"),
    "history": ("history",),
    "judge": ("judge",),
    "self_evaluation": ("self_evaluation",),
}
"""Which keys of a slice each signal's value depends on."""

_RATES = frozenset({"allow_same_model", "borderline", "high_stakes", "otherwise"})
"""Keys of a judge that say when it is asked, not what it says."""

_AUTOMATIC = frozenset({Route.AUTO_APPROVE, Route.AUTO_REJECT})


def recorded(past: PastDecision, made_under: Policy | None) -> Recorded:
    """Return a past decision as a replay needs it.

    `made_under` is the policy of then; without it, recorded stakes count as claimed, which is the
    restrictive side.
    """
    decision = decode(splice(past.body, None))
    codes = {reason.code for reason in decision.reasons}
    stakes, action_class = _claims(decision, made_under)
    log_only = decision.mode is Mode.LOG_ONLY and decision.would_route is not None
    return Recorded(
        id=past.id,
        route=decision.would_route if log_only and decision.would_route else decision.route,
        signals=decision.signals,
        unreadable="unreadable_output" in codes,
        forced="forced" in codes,
        claimed_stakes=stakes,
        claimed_class=action_class,
        attempt=decision.attempt,
        sample_key=decision.sample_key,
        variant=decision.variant,
        audit=past.audit,
        sampled=past.audit or decision.route not in _AUTOMATIC,
        propensity=past.propensity,
        certifies=past.stratum.representative and past.stratum.fold is Fold.HOLD,
        correct=past.correct,
    )


def _claims(decision: Decision, made_under: Policy | None) -> tuple[Stakes | None, str | None]:
    """Return the stakes and the action class that the proposal itself stated."""
    stakes = Stakes(decision.stakes)
    if made_under is None or decision.slice_key not in made_under.slices:
        return stakes, decision.action_class
    policy = made_under.slices[decision.slice_key]
    own = None if decision.action_class == policy.action_class else decision.action_class
    silent = Proposal(slice_key=policy.key, task="", output=None, action_class=own)
    settled = settle_stakes(silent, policy, made_under.action_classes).stakes
    return (stakes if stakes.rank > settled.rank else None), own


def differing_signals(before: Mapping[str, Any], after: Mapping[str, Any]) -> frozenset[str]:
    """Name the signals whose settings differ between two contents of a slice.

    Their recorded values say how they were measured then, not how they would be now.
    """
    return frozenset(
        name
        for name, keys in _SETTINGS.items()
        if any(_measured(before.get(key)) != _measured(after.get(key)) for key in keys)
    )


def _measured(setting: Any) -> Any:
    if isinstance(setting, Mapping):
        return {key: value for key, value in setting.items() if key not in _RATES}
    return setting
