"""A model that has not passed its canaries gives no signal, where the policy says so (G3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace

from sureline.core.canonical import canonical_json
from sureline.core.opinions import evaluation_prompt, judge_prompt
from sureline.core.opinions.canary_run import Evaluator
from sureline.core.opinions.deductions import deductions_hash
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal, SignalState

JUDGE, SELF_EVALUATION = "judge", "self_evaluation"
ROLES = (JUDGE, SELF_EVALUATION)
"""The roles that have canaries; each is also the name of its signal."""

NOT_RUN, FAILED = "canaries_not_run", "canaries_failed"
"""Why a model does not count."""

Standings = Mapping[str, bool]
"""Whether the latest complete run of an evaluator was passed, by its identity."""


def evaluators_in(role: str, policy: SlicePolicy) -> tuple[Evaluator, ...]:
    """Return who has a role in a slice: nobody, one model, or each of a panel of judges.

    Which id answers is left open.
    """
    judge, evaluation = policy.judge, policy.self_evaluation
    if role == JUDGE and judge is not None:
        return tuple(
            Evaluator(
                role=role,
                asked=model,
                answered=None,
                prompt=judge_prompt.TEMPLATE_HASH,
                guidance=None if judge.guidance is None else _digest(judge.guidance),
                temperature=judge.temperature,
            )
            for model in judge.models
        )
    if role == SELF_EVALUATION and evaluation is not None:
        return (
            Evaluator(
                role=role,
                asked=evaluation.model,
                answered=None,
                prompt=evaluation_prompt.TEMPLATE_HASH,
                deductions=deductions_hash(evaluation.deductions),
                temperature=evaluation.temperature,
            ),
        )
    return ()


def identity_of(evaluator: Evaluator) -> str:
    """Return the SHA-256 of all that an evaluator's opinion depends on, in hexadecimal."""
    return hashlib.sha256(canonical_json(asdict(evaluator))).hexdigest()


def bound_roles(policy: SlicePolicy) -> tuple[str, ...]:
    """Return the roles whose models count only while they pass their canaries."""
    settings = {JUDGE: policy.judge, SELF_EVALUATION: policy.self_evaluation}
    return tuple(
        role for role, one in settings.items() if one is not None and one.must_pass_canaries
    )


def unbound(policy: SlicePolicy) -> SlicePolicy:
    """Return the policy with models that count whether or not they passed."""
    judge, evaluation = policy.judge, policy.self_evaluation
    return replace(
        policy,
        judge=judge and replace(judge, must_pass_canaries=False),
        self_evaluation=evaluation and replace(evaluation, must_pass_canaries=False),
    )


def barred_roles(
    policy: SlicePolicy,
    latest: Mapping[str, str],
    answers: Mapping[str, tuple[str, ...]],
    standings: Standings,
) -> dict[str, str]:
    """Return the roles whose models do not count, and why: `NOT_RUN` or `FAILED`.

    `answers` are the ids that answered to the names that were asked, `latest` those that did so
    before. Where several models judge, or several answered to one name, each must have passed.
    """
    barred = {}
    for role in bound_roles(policy):
        passed = [
            standings.get(identity_of(replace(one, answered=answered)))
            for one in evaluators_in(role, policy)
            for answered in answers.get(one.asked) or (latest.get(one.asked),)
        ]
        if not all(passed):
            barred[role] = FAILED if False in passed else NOT_RUN
    return barred


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
