"""Say, when deciding, what a later label of this output may be used for (G23)."""

from __future__ import annotations

from sureline.core.gate.composition import JUDGE
from sureline.core.gate.routing import Circumstances, Routing, audit_rate
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.values.assessment import Assessment
from sureline.core.values.decision import Route
from sureline.core.values.policy import Mode, SlicePolicy
from sureline.core.values.stratum import Fold, Stratum

FIT_SHARE = 0.3
"""Share of decisions whose labels fit weights and maps; the others certify."""


def stratum_of(
    routing: Routing, assessed: Assessment, policy: SlicePolicy, around: Circumstances
) -> Stratum:
    """Return the stratum of a routed output.

    While a slice automates, people see all of what lies below the threshold and only the audit
    sample of what lies above. Labels become a fair sample again by thinning the former to the
    audit's rate, with a draw made now, so that counting labels later needs no ids.
    """
    judge = assessed.signal(JUDGE)
    fits = is_sampled(around.secret, Purpose.FOLD, around.decision_id, FIT_SHARE)
    return Stratum(
        attempt=around.attempt,
        propensity=routing.propensity,
        representative=_is_representative(routing, policy, around),
        judged=judge is not None and judge.is_measured,
        fold=Fold.FIT if fits else Fold.HOLD,
    )


def _is_representative(routing: Routing, policy: SlicePolicy, around: Circumstances) -> bool:
    """Tell whether every eligible output of this time had the same chance to be here."""
    if routing.propensity < 1.0:
        return routing.audit
    automates = (
        policy.mode is Mode.ROUTE
        and around.threshold.auto is not None
        and not around.switches
        and routing.eligible
    )
    if not automates or routing.route is Route.AUTO_APPROVE:
        return True
    rate = audit_rate(policy, around.threshold)
    return is_sampled(around.secret, Purpose.THINNING, around.decision_id, rate)
