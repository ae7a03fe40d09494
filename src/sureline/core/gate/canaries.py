"""A model that has not passed its canaries gives no signal, where the policy says so (G3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from sureline.core.canonical import canonical_json
from sureline.core.opinions import evaluation_prompt, judge_prompt
from sureline.core.opinions.canary_run import Evaluator
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal, SignalState

JUDGE, SELF_EVALUATION = "judge", "self_evaluation"
ROLES = (JUDGE, SELF_EVALUATION)
"""The roles that have canaries; each is also the name of its signal."""

NOT_RUN, FAILED = "canaries_not_run", "canaries_failed"
"""Why a model does not count."""

Standings = Mapping[str, bool]
"""Whether the latest complete run of an evaluator was passed, by its identity."""


def evaluator_in(role: str, policy: SlicePolicy, answered: str | None) -> Evaluator | None:
    """Return who has a role in a slice, None if nobody has; `answered` is the id that answers."""
    judge, evaluation = policy.judge, policy.self_evaluation
    if role == JUDGE and judge is not None:
        return Evaluator(
            role=role,
            asked=judge.model,
            answered=answered,
            prompt=judge_prompt.TEMPLATE_HASH,
            guidance=None if judge.guidance is None else _digest(judge.guidance),
            temperature=judge.temperature,
        )
    if role == SELF_EVALUATION and evaluation is not None:
        return Evaluator(
            role=role,
            asked=evaluation.model,
            answered=answered,
            prompt=evaluation_prompt.TEMPLATE_HASH,
            deductions=_digest(evaluation.deductions),
            temperature=evaluation.temperature,
        )
    return None


def identity_of(evaluator: Evaluator) -> str:
    """Return the SHA-256 of all that an evaluator's opinion depends on, in hexadecimal."""
    return hashlib.sha256(canonical_json(asdict(evaluator))).hexdigest()


def bound_roles(policy: SlicePolicy) -> tuple[str, ...]:
    """Return the roles whose models count only while they pass their canaries."""
    settings = {JUDGE: policy.judge, SELF_EVALUATION: policy.self_evaluation}
    return tuple(
        role for role, one in settings.items() if one is not None and one.must_pass_canaries
    )


def barred_roles(
    policy: SlicePolicy,
    latest: Mapping[str, str],
    answers: Mapping[str, tuple[str, ...]],
    standings: Standings,
) -> dict[str, str]:
    """Return the roles whose models do not count, and why: `NOT_RUN` or `FAILED`.

    `answers` are the ids that answered to the names that were asked, `latest` those that did so
    before. Where several answered to one name, each must have passed.
    """
    barred = {}
    for role in bound_roles(policy):
        fault = _fault(role, policy, latest, answers, standings)
        if fault is not None:
            barred[role] = fault
    return barred


def _fault(
    role: str,
    policy: SlicePolicy,
    latest: Mapping[str, str],
    answers: Mapping[str, tuple[str, ...]],
    standings: Standings,
) -> str | None:
    known = evaluator_in(role, policy, None)
    if known is None:
        return None
    for answered in answers.get(known.asked) or (latest.get(known.asked),):
        evaluator = evaluator_in(role, policy, answered)
        passed = None if evaluator is None else standings.get(identity_of(evaluator))
        if not passed:
            return NOT_RUN if passed is None else FAILED
    return None


def without_barred(signals: Iterable[Signal], barred: Mapping[str, str]) -> tuple[Signal, ...]:
    """Return the signals as they count: what a barred model measured has failed.

    One that was not sampled, or failed by itself, stays as it is.
    """
    said = {SignalState.MEASURED, SignalState.NOT_APPLICABLE}
    return tuple(
        Signal.failed(one.name, one.kind, barred[one.name], detail=one.detail)
        if one.name in barred and one.state in said
        else one
        for one in signals
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
