"""Decide about an output that is to be planted as if it had come beside another item (R7).

What is planted shows what the checks make of its very content, and the reasons that a real output
would have beside its neighbour: nothing of it may contradict what is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sureline.application.current import Current
from sureline.application.encode import decode, splice
from sureline.application.identify import identify
from sureline.core.checks.result import Validator
from sureline.core.checks.verification import NAME, Verification, verify
from sureline.core.gate.composition import assess
from sureline.core.gate.judging import Judging
from sureline.core.gate.routing import GUARD, Circumstances, Routing, route
from sureline.core.gate.stakes import settle_stakes
from sureline.core.values.assessment import Assessment
from sureline.core.values.decision import Decision, Route
from sureline.core.values.proposal import Proposal, SourceText, Stakes
from sureline.core.values.switch import Switch

TO_PEOPLE = frozenset({Route.HUMAN_REVIEW, Route.HUMAN_REQUIRED, Route.ABSTAIN})
_SWITCHED = "The switch "


@dataclass(frozen=True, slots=True, kw_only=True)
class Remeasuring:
    """Decides under what holds `now`; `beside` is the body of the item that it shall be like."""

    current: Current
    beside: Mapping[str, Any]
    validators: Mapping[str, Validator]
    secret: bytes

    def decided(
        self, body: bytes, answer: bytes, request: bytes, output: Any, new_id: str, now: datetime
    ) -> Decision | None:
        """Return the decision about `output`, None where no person would have seen it.

        `body`, `answer` and `request` are those of the decision that it is made of: what other
        signals than the checks said of it stands.
        """
        source = decode(splice(body, answer))
        proposal = _proposal(source, json.loads(request), output)
        verified = self._verified(proposal, now)
        signals = tuple(verified.signal if one.name == NAME else one for one in source.signals)
        assessed = assess(
            signals,
            self.current.policy,
            unreadable=verified.parse_failed,
            maps=self.current.maps,
        )
        around = self._around(source, new_id, now)
        routing = route(assessed, self.current.policy, around)
        if routing.route not in TO_PEOPLE or _is_sample(routing):
            return None
        made = _with_score(source, assessed, around, routing)
        return replace(
            made,
            id=new_id,
            review_id=new_id,
            created_at=now,
            sample_key=identify(proposal, self.secret).sample_key,
            mode=self.current.policy.mode,
            policy=self.current.policy_hash,
            measurement=self.current.measurement_hash,
            output=verified.output,
            feedback=verified.findings,
        )

    def _verified(self, proposal: Proposal, now: datetime) -> Verification:
        checks = self.current.policy.checks
        return verify(
            proposal.output,
            policy=checks,
            task=proposal.task,
            source=proposal.source,
            now=now,
            validator=self.validators.get(checks.model or ""),
        )

    def _around(self, source: Decision, new_id: str, now: datetime) -> Circumstances:
        """Return what bears on the route besides the signals, as it was for the neighbour."""
        wanted = Proposal(
            slice_key=source.slice_key,
            task="",
            output=None,
            action_class=self.beside["action_class"],
            stakes=Stakes(self.beside["stakes"]),
        )
        policy = self.current.policy
        if wanted.action_class == policy.action_class:
            wanted = replace(wanted, action_class=None)
        codes = {one.code for one in source.reasons}
        judged = bool(codes & {"judge_inconclusive", "judge_unavailable"})
        at_stake = settle_stakes(wanted, policy, self.current.action_classes)
        return Circumstances(
            threshold=self.current.threshold(at_stake.stakes, now),
            at_stake=at_stake,
            judging=Judging.MANDATORY if judged else Judging.NONE,
            switches=tuple(_switches(self.beside, now)),
            force_human=any(one["code"] == "forced" for one in self.beside["reasons"]),
            attempt=source.attempt,
            secret=self.secret,
            decision_id=new_id,
        )


def _is_sample(routing: Routing) -> bool:
    """Tell whether only a sample, and there are few, kept it from going back to its agent."""
    return any(one.code == "reject_audit" for one in routing.reasons)


def _with_score(
    source: Decision, assessed: Assessment, around: Circumstances, routing: Routing
) -> Decision:
    threshold = around.threshold
    return replace(
        source,
        route=routing.route,
        reasons=routing.reasons,
        confidence=threshold.compared(assessed),
        composite=assessed.composite,
        calibrated=assessed.calibrated,
        extrapolated=assessed.extrapolated,
        threshold=threshold.auto,
        certificate=threshold.certificate,
        uncertified=threshold.uncertified,
        signals=assessed.signals,
        audit=routing.audit,
        would_route=routing.would_route,
        stakes=around.at_stake.stakes,
        action_class=around.at_stake.action_class,
        attempts_left=routing.attempts_left,
    )


def _proposal(source: Decision, request: Mapping[str, Any], output: Any) -> Proposal:
    texts = request.get("source", ())
    return Proposal(
        slice_key=source.slice_key,
        task=request["task"],
        output=output,
        source=tuple(
            SourceText(ref=one["ref"], text=one["text"], trusted=one["trusted"]) for one in texts
        ),
    )


def _switches(beside: Mapping[str, Any], now: datetime) -> list[Switch]:
    """Return the switches that the neighbour's reasons tell of."""
    found = []
    for one in beside["reasons"]:
        if one["code"] not in {"kill_switch", "slice_tripped"}:
            continue
        scope, _, why = one["message"].removeprefix(_SWITCHED).partition(" is on: ")
        by = GUARD if one["code"] == "slice_tripped" else ""
        found.append(Switch(workspace="", scope=scope, on=True, reason=why, by=by, changed_at=now))
    return found
