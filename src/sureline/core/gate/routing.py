"""Route an assessed proposal: the only place that can let an output act alone (G25-G29).

The numbered rules are those of the table in docs/explanation/routing.md; the first that applies
gives the route, and all that apply are listed as reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sureline.core.gate.judging import Judging, is_refuted
from sureline.core.gate.reasons import FAILING, INELIGIBLE
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.gate.stakes import AtStake
from sureline.core.gate.thresholds import VOID_REASONS, Threshold
from sureline.core.gate.unvouched import unvouched
from sureline.core.opinions.advice import advised
from sureline.core.values.assessment import Assessment
from sureline.core.values.decision import Reason, Route
from sureline.core.values.policy import Mode, SlicePolicy
from sureline.core.values.signal import SignalState
from sureline.core.values.switch import Switch

GUARD = "guard"
"""Who turns a slice's switch when audited precision has fallen (L4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """All that bears on the route besides the signals; `attempt` counts from 1.

    `secret` and `decision_id` fix the samples; `switches` are those that are on for this scope;
    `force_human` is the call's own wish.
    """

    threshold: Threshold
    at_stake: AtStake
    judging: Judging
    switches: tuple[Switch, ...]
    force_human: bool
    attempt: int
    secret: bytes
    decision_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The route with its reasons in the order of the rules.

    `propensity` is the known probability in [0, 1] with which a person was to see this output.
    `eligible` says that only the comparison with a threshold, or a state of the slice, stood
    between the output and automation; certificates count the labels of eligible outputs only,
    because no others are ever automated. `failed` says that this was a failed attempt.
    """

    route: Route
    reasons: tuple[Reason, ...]
    would_route: Route | None
    audit: bool
    propensity: float
    attempts_left: int
    eligible: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class _Match:
    """One rule that applies: its number, the route it gives, and why."""

    rule: int
    route: Route
    reason: Reason


def route(assessed: Assessment, policy: SlicePolicy, around: Circumstances) -> Routing:
    """Give the route of the first rule that applies, and every rule's reason."""
    attempts_left = max(0, policy.attempts - around.attempt)
    claimed = unvouched(assessed, max(around.threshold.reject, policy.abstain_floor))
    matches = [
        *(_unusable(assessed, attempts_left) if claimed is None else _unknown(claimed)),
        *_person_needed(assessed, policy, around),
        *_log_only(policy),
        *_too_low(assessed, policy, around, attempts_left),
        *_held_back(assessed, policy, around),
        *_compared(assessed, around.threshold),
    ]
    stands_back = policy.mode is not Mode.ROUTE or around.at_stake.always_human
    acting = [match for match in matches if not (match.rule == 1 and stands_back)]
    chosen = acting[0] if acting else matches[0]
    would = next(match.route for match in matches if match.rule != 3)
    sampled_up = chosen.route is Route.AUTO_REJECT and is_sampled(
        around.secret, Purpose.REJECT_AUDIT, around.decision_id, policy.reject_audit_rate
    )
    final = Route.HUMAN_REVIEW if sampled_up else chosen.route
    reasons = [match.reason for match in matches]
    if sampled_up:
        reasons.append(_reason("reject_audit", "A sample of rejections is shown to a person."))
    rate = audit_rate(policy, around.threshold)
    return Routing(
        route=final,
        reasons=tuple(reasons),
        would_route=would if policy.mode is Mode.LOG_ONLY or would is not final else None,
        audit=final is Route.AUTO_APPROVE
        and is_sampled(around.secret, Purpose.AUDIT, around.decision_id, rate),
        propensity=_propensity(chosen.route, rate, policy),
        attempts_left=attempts_left,
        eligible=INELIGIBLE.isdisjoint(match.reason.code for match in matches),
        failed=policy.mode is Mode.ROUTE
        and not FAILING.isdisjoint(match.reason.code for match in matches),
    )


def audit_rate(policy: SlicePolicy, threshold: Threshold) -> float:
    """Return the share of automated items that a person audits, in [0, 1]."""
    if threshold.uncertified and policy.hypothesis is not None:
        return max(policy.audit_rate, policy.hypothesis.audit_rate)
    return policy.audit_rate


def _propensity(chosen: Route, rate: float, policy: SlicePolicy) -> float:
    """Return the probability that a person sees an output of this route."""
    if chosen is Route.AUTO_APPROVE:
        return rate
    return policy.reject_audit_rate if chosen is Route.AUTO_REJECT else 1.0


def _reason(code: str, message: str) -> Reason:
    return Reason(code=code, message=message)


def _unusable(assessed: Assessment, attempts_left: int) -> Iterator[_Match]:
    """Rule 1: the output cannot be parsed, or a fatal check failed."""
    then = Route.AUTO_REJECT if attempts_left else Route.ABSTAIN
    if assessed.unreadable:
        yield _Match(1, then, _reason("unreadable_output", "The output cannot be parsed."))
    elif assessed.fatal:
        yield _Match(1, then, _reason("fatal_check", "A check that must pass failed."))


def _unknown(claimed: Reason) -> Iterator[_Match]:
    """Rule 2 in place of rule 1: a score of 0 for claimed sources alone is no check that failed."""
    yield _Match(2, Route.HUMAN_REQUIRED, claimed)


def _person_needed(
    assessed: Assessment, policy: SlicePolicy, around: Circumstances
) -> Iterator[_Match]:
    """Rule 2: only a person may decide this."""
    for reason in (
        *_unmeasured(assessed),
        *_judged_against(assessed, around.judging),
        *_reserved(policy, around),
    ):
        yield _Match(2, Route.HUMAN_REQUIRED, reason)


def _unmeasured(assessed: Assessment) -> Iterator[Reason]:
    if assessed.value is None and not assessed.fatal:
        yield _reason("nothing_measured", "No signal could be measured.")
    for missing in assessed.missing:
        if missing.why == "novel":
            yield _reason("novel", "No similar past case is close enough to compare with.")
        else:
            signal = assessed.signal(missing.name)
            why = advised(missing.why, None if signal is None else signal.detail)
            yield _reason("signal_missing", f"The signal {missing.name} is missing ({why}).")


def _judged_against(assessed: Assessment, judging: Judging) -> Iterator[Reason]:
    signal = assessed.signal("judge")
    if is_refuted(assessed):
        mode = signal.detail.get("failure_mode") if signal is not None else None
        named = f" ({mode})" if mode else ""
        yield _reason("judge_refuted", f"The judge found a strong reason against it{named}.")
        return
    if judging is Judging.MANDATORY and signal is not None:
        if signal.state is SignalState.NOT_APPLICABLE:
            yield _reason("judge_inconclusive", "Judging was required and came to no conclusion.")
        elif not signal.is_measured:
            yield _reason("judge_unavailable", "Judging was required and did not succeed.")


def _reserved(policy: SlicePolicy, around: Circumstances) -> Iterator[Reason]:
    at_stake = around.at_stake
    if not at_stake.known:
        yield _reason("unknown_action_class", "The policy does not name this action class.")
    elif at_stake.always_human:
        yield _reason("action_always_human", "Actions of this kind are always left to a person.")
    if policy.mode is Mode.HUMAN_ONLY:
        yield _reason("slice_human_only", "The policy leaves this slice to people.")
    if any(switch.by == GUARD for switch in around.switches):
        yield _reason("slice_tripped", "Audited precision fell; the guard gave it to people.")
    if policy.four_eyes:
        yield _reason("four_eyes", "This slice needs two people.")


def _log_only(policy: SlicePolicy) -> Iterator[_Match]:
    """Rule 3: the slice only records what it would do."""
    if policy.mode is Mode.LOG_ONLY:
        yield _Match(3, Route.HUMAN_REVIEW, _reason("log_only", "The slice is in log-only mode."))


def _too_low(
    assessed: Assessment, policy: SlicePolicy, around: Circumstances, attempts_left: int
) -> Iterator[_Match]:
    """Rules 4 and 5: too low to keep, or too low even for a draft."""
    value, reject = assessed.value, around.threshold.reject
    if value is None:
        return
    if value < reject and attempts_left:
        yield _Match(
            4,
            Route.AUTO_REJECT,
            _reason(
                "below_reject_threshold", f"{value:.3f} is below the reject threshold {reject:.3f}."
            ),
        )
    if value < policy.abstain_floor:
        yield _Match(
            5,
            Route.ABSTAIN,
            _reason(
                "below_abstain_floor", f"{value:.3f} is below the floor {policy.abstain_floor:.3f}."
            ),
        )


def _held_back(
    assessed: Assessment, policy: SlicePolicy, around: Circumstances
) -> Iterator[_Match]:
    """Rules 6 and 7: switched off, too low without another attempt, or no threshold to hold."""
    for switch in around.switches:
        if switch.by != GUARD:
            yield _Match(
                6,
                Route.HUMAN_REQUIRED,
                _reason("kill_switch", f"The switch {switch.scope} is on: {switch.reason}"),
            )
    if around.force_human:
        yield _Match(6, Route.HUMAN_REQUIRED, _reason("forced", "The call asked for a person."))
    value, threshold = assessed.value, around.threshold
    if value is not None and value < threshold.reject:
        left = around.attempt < policy.attempts
        yield _Match(
            7,
            Route.HUMAN_REVIEW,
            _reason("low_confidence", "The value is below the reject threshold.")
            if left
            else _reason("no_attempts_left", "Rejected, and no attempts are left."),
        )
    if around.attempt > policy.attempts:
        yield _Match(
            7,
            Route.HUMAN_REVIEW,
            _reason("too_many_attempts", f"Attempt {around.attempt} of {policy.attempts}."),
        )
    if threshold.auto is None:
        why = VOID_REASONS[threshold.absent or "none"]
        yield _Match(7, Route.HUMAN_REVIEW, _reason("no_certificate", f"No certificate: {why}."))
    for young in assessed.young:
        yield _Match(
            7,
            Route.HUMAN_REVIEW,
            _reason(
                "too_few_verdicts",
                f"The signal {young.name} has too few verdicts in this slice yet.",
            ),
        )


def _compared(assessed: Assessment, threshold: Threshold) -> Iterator[_Match]:
    """Rules 8 and 9: the value against the threshold, where there are both."""
    auto = threshold.auto
    value = threshold.compared(assessed)
    if value is None or auto is None:
        return
    kind = "uncertified threshold" if threshold.uncertified else "certified threshold"
    if value >= auto:
        code = "above_hypothesis" if threshold.uncertified else "above_threshold"
        message = f"{value:.3f} reaches the {kind} {auto:.3f}."
        yield _Match(8, Route.AUTO_APPROVE, _reason(code, message))
    else:
        message = f"{value:.3f} is below the {kind} {auto:.3f}."
        yield _Match(9, Route.HUMAN_REVIEW, _reason("below_threshold", message))
