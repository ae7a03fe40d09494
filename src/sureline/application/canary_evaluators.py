"""Which second models a policy names: each is examined once, however many slices ask it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sureline.core.gate.canaries import JUDGE, ROLES, evaluators_in, identity_of
from sureline.core.opinions.canary_run import Evaluator
from sureline.core.values.policy import JudgePolicy, Policy, SlicePolicy
from sureline.errors import InvalidInput, UnknownSlice

CANARY_SLICE = "canaries"
"""The slice that canaries are put to: it has nothing but the evaluator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examinee:
    """A second model in its role, the `slices` that ask it, and the policy to ask it with.

    `evaluator.answered` is left open. `bound` names the slices that count it only while it passes.
    """

    evaluator: Evaluator
    slices: tuple[str, ...]
    bound: tuple[str, ...]
    policy: SlicePolicy


def examinees(
    policy: Policy, *, slice_key: str | None = None, role: str | None = None
) -> tuple[Examinee, ...]:
    """Return the second models of a policy, or of one slice or role, each once.

    Raises UnknownSlice, and InvalidInput for a role that there is not.
    """
    if slice_key is not None and slice_key not in policy.slices:
        known = ", ".join(sorted(policy.slices))
        raise UnknownSlice(f"the policy has no slice {slice_key!r} (it has: {known})")
    if role is not None and role not in ROLES:
        raise InvalidInput(f"expected {' or '.join(ROLES)}, got {role!r}", field="role")
    keys = sorted(policy.slices) if slice_key is None else [slice_key]
    found: dict[str, list[tuple[Evaluator, SlicePolicy]]] = {}
    for one in ROLES if role is None else (role,):
        for key in keys:
            for evaluator in evaluators_in(one, policy.slices[key]):
                asked = (evaluator, policy.slices[key])
                found.setdefault(identity_of(evaluator), []).append(asked)
    return tuple(_examinee(same) for same in found.values())


def _examinee(same: Sequence[tuple[Evaluator, SlicePolicy]]) -> Examinee:
    """Return one examinee of the slices that ask it alike; of a panel, each judge by itself."""
    evaluator, first = same[0]
    judge = None if first.judge is None else _alone(first.judge, evaluator.asked)
    judges = evaluator.role == JUDGE
    return Examinee(
        evaluator=evaluator,
        slices=tuple(one.key for _, one in same),
        bound=tuple(one.key for _, one in same if _binds(evaluator.role, one)),
        policy=SlicePolicy(
            key=CANARY_SLICE,
            judge=judge if judges else None,
            self_evaluation=None if judges else first.self_evaluation,
        ),
    )


def _alone(judge: JudgePolicy, model: str) -> JudgePolicy:
    return replace(judge, model=model, panel=(), quorum=None)


def _binds(role: str, policy: SlicePolicy) -> bool:
    settings = policy.judge if role == JUDGE else policy.self_evaluation
    return settings is not None and settings.must_pass_canaries
